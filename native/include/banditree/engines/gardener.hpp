// Grows the trees of an engine's arms beside it, one arm at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <utility>

#include "banditree/engines/beside.hpp"

namespace banditree {

// Of a garden it asks n_arms(), is_due(arm), cutting(arm) (a pointer to a copy of an arm, on which
// catch_up() grows what is due), n_since(arm, copy) (how many rows have come since it was copied)
// and plant(arm, copy). An arm that is due and has to wait for its turn is copied when that comes,
// with all that it has learned until then.
template <class Cutting>
class Gardener {
 public:
    // Where more rows have come than `most` while trees grew, these are taken in beside too.
    explicit Gardener(std::size_t most) : most_(most) {}

    // To be called once an arm has learned: plants what has been grown, and begins what is due.
    template <class Garden>
    void tend(Garden& garden, std::uint32_t arm) {
        if (!beside_.is_busy()) {
            if (garden.is_due(arm)) begin(garden, arm);
        } else if (beside_.is_done()) {
            tend_all(garden);
        }
    }
    // The same, once any arms may have learned.
    template <class Garden>
    void tend_all(Garden& garden) {
        if (beside_.is_done()) plant(garden);
        for (std::uint32_t i = 1; i <= garden.n_arms() && !beside_.is_busy(); ++i) {
            const auto arm = static_cast<std::uint32_t>((arm_ + i) % garden.n_arms());
            if (garden.is_due(arm)) begin(garden, arm);
        }
    }
    bool is_busy() { return beside_.is_busy(); }
    auto waiting() { return beside_.waiting(); }
    void abandon() { beside_.abandon(); }
    // Throws what kept a tree from being grown since the last such call. Until it can be, the arm
    // has its old one.
    void check() {
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

 private:
    template <class Garden>
    void begin(Garden& garden, std::uint32_t arm) {
        arm_ = arm;
        n_since_ = std::numeric_limits<std::size_t>::max();
        attempt([&] {
            beside_.start([copy = garden.cutting(arm)]() mutable {
                copy->catch_up();
                return std::move(copy);
            });
        });
    }
    template <class Garden>
    void plant(Garden& garden) {
        attempt([&] {
            std::unique_ptr<Cutting> grown = beside_.take();
            const std::size_t n_since = garden.n_since(arm_, *grown);
            if (n_since > most_ && n_since < n_since_ / 2)
                follow_up(garden, std::move(grown), n_since);
            else
                garden.plant(arm_, std::move(*grown));
        });
    }
    // Plants what has been grown in a new copy, beside.
    template <class Garden>
    void follow_up(Garden& garden, std::unique_ptr<Cutting> grown, std::size_t n_since) {
        n_since_ = n_since;
        beside_.start([copy = garden.cutting(arm_), grown = std::move(grown)]() mutable {
            copy->plant(std::move(*grown));
            return std::move(copy);
        });
    }
    // Learning has taken place, and must not fail for what may as well be done later.
    template <class Step>
    void attempt(Step step) {
        try {
            step();
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    Beside<std::unique_ptr<Cutting>> beside_;
    std::size_t most_;
    std::uint32_t arm_ = 0;  // whose turn it was last
    std::size_t n_since_ = 0;
    std::exception_ptr failure_;
};

}  // namespace banditree
