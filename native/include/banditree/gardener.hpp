// Grows the trees of an engine's arms beside it, one arm at a time.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "banditree/beside.hpp"

namespace banditree {

// Of a garden it asks n_arms(), is_due(arm), cutting(arm) (a pointer to a copy of an arm, on which
// catch_up() grows what is due) and plant(arm, copy). An arm that is due and has to wait for its
// turn is copied when that comes, with all that it has learned until then.
template <class Cutting>
class Gardener {
 public:
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
        attempt([&] {
            beside_.start([copy = garden.cutting(arm)]() mutable {
                copy->catch_up();
                return std::move(copy);
            });
        });
    }
    template <class Garden>
    void plant(Garden& garden) {
        attempt([&] { garden.plant(arm_, std::move(*beside_.take())); });
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
    std::uint32_t arm_ = 0;  // whose turn it was last
    std::exception_ptr failure_;
};

}  // namespace banditree
