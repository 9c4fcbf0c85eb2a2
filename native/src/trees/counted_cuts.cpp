#include "banditree/trees/counted_cuts.hpp"

#include <bit>
#include <utility>

namespace banditree {

// Each code is written first and then kept if it occurs: which do follows no pattern that a
// processor could foresee.
void CountedCuts::take(const Counts* by_code, std::uint32_t n_codes) {
    make_room(n_codes);
    missing_ = by_code[0];
    std::uint32_t* codes = codes_.data();
    std::uint64_t* up_to = up_to_.data();
    Counts total;
    std::size_t size = 0;
    for (std::uint32_t code = 1; code <= n_codes; ++code) {
        total += by_code[code];
        codes[size] = code;
        up_to[size] = total.bits;
        size += occurs(by_code[code]);
    }
    size_ = size;
}

void CountedCuts::take_out(Counts* by_code, std::uint64_t occurring) {
    make_room(kWordCodes);
    missing_ = std::exchange(by_code[0], {});
    std::uint32_t* codes = codes_.data();
    std::uint64_t* up_to = up_to_.data();
    Counts total;
    std::size_t size = 0;
    for (; occurring != 0; occurring &= occurring - 1) {
        const auto code = static_cast<std::uint32_t>(std::countr_zero(occurring)) + 1;
        const Counts own = std::exchange(by_code[code], {});
        total += own;
        codes[size] = code;
        up_to[size] = total.bits;
        size += occurs(own);
    }
    size_ = size;
}

bool CountedCuts::may_exceed(double bar, const Sums& total) const {
    return may_exceed(bar, total, {}) || (occurs(missing_) && may_exceed(bar, total, missing_));
}

// Of the cuts that send `beside` to the left as well. Behind the last code all that can be left is
// missing values; if there are none, that is no cut, and gains nothing. One sign that is negative
// makes it that of all: without a branch, the compiler can take several cuts at a time.
bool CountedCuts::may_exceed(double bar, const Sums& total, const Counts& beside) const {
    const std::uint64_t* up_to = up_to_.data();
    std::uint64_t signs = 0;
    for (std::size_t i = 0; i < size_; ++i) {
        const Counts left{up_to[i] + beside.bits};
        signs |= std::bit_cast<std::uint64_t>(shortfall(bar, total, as_sums(left)));
    }
    return signs >> 63 != 0;
}

void CountedCuts::describe(Groups& groups) const {
    groups.start(size_);
    Counts before;
    for (std::size_t i = 0; i < size_; ++i) {
        groups.add(codes_[i], as_sums(Counts{up_to_[i] - before.bits}));
        before.bits = up_to_[i];
    }
    groups.missing = as_sums(missing_);
}

}  // namespace banditree
