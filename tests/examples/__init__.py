"""Every directory of ``examples/`` plans as its table says, before and after the change that its README proposes."""
