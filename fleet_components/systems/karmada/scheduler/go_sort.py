"""Port of Go's ``sort.Sort`` (pattern-defeating quicksort), needed for its order of equal items; it
is not stable.

Karmada takes a prefix of a list sorted this way. If the prefix ends among equal items, their order
decides which of them are in it. Up to twelve items Go uses insertion sort, which keeps the order of
equal items. Source: the Go standard library, ``src/sort/zsortinterface.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

_SHORT = 12
_SHORT_NINTHER = 50
_SHORT_SHIFTING = 50
_MAX_PIVOT_SWAPS = 12
_MAX_SHIFTS = 5
_64_BITS = 2**64 - 1


def descending(weights: Sequence[int]) -> list[int]:
    """Return the indices of the weights from the largest to the smallest, as Go sorts them."""
    places = list(range(len(weights)))
    if len(places) <= _SHORT:
        # Go's insertion sort is stable, as sorted() is.
        return sorted(places, key=lambda place: -weights[place])
    _Sort(weights, places).sort(0, len(places), len(places).bit_length())
    return places


class _Sort:
    """One sort that rearranges ``places`` in place. Ranges are half open."""

    def __init__(self, weights: Sequence[int], places: list[int]) -> None:
        self.weights = weights
        self.places = places

    def before(self, left: int, right: int) -> bool:
        return self.weights[self.places[left]] > self.weights[self.places[right]]

    def swap(self, left: int, right: int) -> None:
        places = self.places
        places[left], places[right] = places[right], places[left]

    def sort(self, begin: int, end: int, limit: int) -> None:
        balanced = partitioned = True
        while end - begin > _SHORT:
            if limit == 0:
                self.heap_sort(begin, end)
                return
            if not balanced:
                self.break_patterns(begin, end)
                limit -= 1
            pivot, swaps = self.choose_pivot(begin, end)
            if swaps == _MAX_PIVOT_SWAPS:
                self.places[begin:end] = self.places[begin:end][::-1]
                pivot, swaps = begin + end - 1 - pivot, 0
            if balanced and partitioned and swaps == 0 and self.sorted_with_few_shifts(begin, end):
                return
            # The item in front sorts after nothing in the range. If it does not sort before the
            # pivot either, the two are equal, and the pivot is the first of the range.
            if begin > 0 and not self.before(begin - 1, pivot):
                begin = self.skip_equal(begin, end, pivot)
                continue
            middle, partitioned = self.partition(begin, end, pivot)
            left, right = middle - begin, end - middle
            balanced = min(left, right) >= (end - begin) // 8
            # Recursion into the shorter part only keeps the stack shallow, as in Go.
            if left < right:
                self.sort(begin, middle, limit)
                begin = middle + 1
            else:
                self.sort(middle + 1, end, limit)
                end = middle
        self.insertion_sort(begin, end)

    def insertion_sort(self, begin: int, end: int) -> None:
        for top in range(begin + 1, end):
            self.sink(top, begin)

    def sink(self, place: int, begin: int) -> None:
        """Move an item towards the front while it sorts before its neighbour."""
        while place > begin and self.before(place, place - 1):
            self.swap(place, place - 1)
            place -= 1

    def heap_sort(self, begin: int, end: int) -> None:
        size = end - begin
        for root in reversed(range((size - 1) // 2 + 1)):
            self.sift_down(root, size, begin)
        for last in reversed(range(size)):
            self.swap(begin, begin + last)
            self.sift_down(0, last, begin)

    def sift_down(self, root: int, size: int, begin: int) -> None:
        while (child := 2 * root + 1) < size:
            if child + 1 < size and self.before(begin + child, begin + child + 1):
                child += 1
            if not self.before(begin + root, begin + child):
                return
            self.swap(begin + root, begin + child)
            root = child

    def break_patterns(self, begin: int, end: int) -> None:
        """Swap three items near the middle with pseudo-random ones; the choice depends on the
        length alone.
        """
        length = end - begin
        random, power = length, 1 << length.bit_length()
        around = begin + length // 4 * 2 - 1
        for step in range(3):
            # Go's xorshift on uint64; the mask stands for its overflow.
            random ^= random << 13 & _64_BITS
            random ^= random >> 7
            random ^= random << 17 & _64_BITS
            # `power` is at most twice the length, so one subtraction brings the place into the
            # range.
            other = random & (power - 1)
            self.swap(around + step, begin + (other - length if other >= length else other))

    def choose_pivot(self, begin: int, end: int) -> tuple[int, int]:
        """Return a median and the number of swaps it took: 0 suggests a sorted range, the maximum a
        reversed one.
        """
        quarter = (end - begin) // 4
        picks = [begin + quarter * step for step in (1, 2, 3)]
        swaps = 0
        if end - begin >= _SHORT_NINTHER:
            medians = [self.median(pick - 1, pick, pick + 1) for pick in picks]
            picks = [median for median, _ in medians]
            swaps = sum(count for _, count in medians)
        pivot, count = self.median(*picks)
        return pivot, swaps + count

    def median(self, *places: int) -> tuple[int, int]:
        first, middle, last = places
        swaps = 0
        if self.before(middle, first):
            first, middle, swaps = middle, first, swaps + 1
        if self.before(last, middle):
            middle, last, swaps = last, middle, swaps + 1
        if self.before(middle, first):
            first, middle, swaps = middle, first, swaps + 1
        return middle, swaps

    def sorted_with_few_shifts(self, begin: int, end: int) -> bool:
        """Return whether the range is sorted, after moving a few misplaced items to their place."""
        place = begin + 1
        for _ in range(_MAX_SHIFTS):
            while place < end and not self.before(place, place - 1):
                place += 1
            if place == end:
                return True
            if end - begin < _SHORT_SHIFTING:
                return False
            self.swap(place, place - 1)
            if place - begin >= 2:
                # Go shifts down to index 0 of the whole slice here, not to the start of the range.
                self.sink(place - 1, 0)
            if end - place >= 2:
                self.rise(place, end)
        return False

    def rise(self, place: int, end: int) -> None:
        """Move an item towards the end while its neighbour sorts before it."""
        while place + 1 < end and self.before(place + 1, place):
            self.swap(place + 1, place)
            place += 1

    def skip_equal(self, begin: int, end: int, pivot: int) -> int:
        """Move the items equal to the pivot, the smallest of the range, to the front; return where
        the others begin.
        """
        self.swap(begin, pivot)
        low, high = begin + 1, end - 1
        while True:
            while low <= high and not self.before(begin, low):
                low += 1
            while low <= high and self.before(begin, high):
                high -= 1
            if low > high:
                return low
            self.swap(low, high)
            low, high = low + 1, high - 1

    def partition(self, begin: int, end: int, pivot: int) -> tuple[int, bool]:
        """Move items that sort before the pivot in front of it; return its index and whether no
        item had to move.
        """
        self.swap(begin, pivot)
        low, high = self.approach(begin, begin + 1, end - 1)
        in_place = low > high
        while low <= high:
            self.swap(low, high)
            low, high = self.approach(begin, low + 1, high - 1)
        self.swap(high, begin)
        return high, in_place

    def approach(self, pivot: int, low: int, high: int) -> tuple[int, int]:
        while low <= high and self.before(low, pivot):
            low += 1
        while low <= high and not self.before(high, pivot):
            high -= 1
        return low, high
