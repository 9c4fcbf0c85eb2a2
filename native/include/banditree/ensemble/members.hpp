// The learners of the ensemble, all on the same rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "banditree/ensemble/boosting.hpp"
#include "banditree/ensemble/forest.hpp"
#include "banditree/ensemble/linear.hpp"
#include "banditree/ensemble/shared_rows.hpp"

namespace banditree {

inline constexpr std::size_t kMembers = 3;

// What each member says of an arm: logits if rewards are binary, otherwise means.
using Opinions = std::array<double, kMembers>;

// Of all arms.
struct Outlook {
    std::vector<Opinions> opinions;
    std::vector<float> support;  // how many of the arm's rows are in a leaf with the context
};

// Rewards as members see them.
struct RewardScale {
    double zero = 0;
    double unit = 1;

    // Next to rewards of before, one may be so large that sums of its squares were no numbers. One
    // of n rows is less than the root of n deviations from their mean, and the next fit sees it
    // whole.
    static constexpr double kFarthest = 1e4;

    double to(double reward) const {
        return std::clamp((reward - zero) / unit, -kFarthest, kFarthest);
    }
    double from(double seen) const { return zero + unit * seen; }
};

struct MemberSettings {
    BoostingSettings boosting;
    ForestSettings forest;
    double linear_epochs = 3;
};

class Members {
 public:
    explicit Members(bool binary) : binary_(binary), linear_(binary) {}

    // Fitted to rows, of which there are some. The linear member goes on from the one before. start
    // is what is expected of each arm, the last of arms to come, before anything else is known.
    static Members fit(const SharedRows& rows, const std::vector<double>& start,
                       const RewardScale& scale, const Members& before,
                       const MemberSettings& settings, Rng rng);
    // All that the next fit needs of them.
    Members to_fit() const;
    bool are_fitted() const { return boosting_.is_fitted(); }
    const RewardScale& scale() const { return scale_; }
    std::size_t n_features() const { return coder_.n_features(); }
    // Those that were there when they were fitted.
    std::size_t n_arms() const { return are_fitted() ? boosting_.n_arms() : 0; }

    Outlook outlook(const double* context, std::size_t n_arms) const;
    // Of the opinions of one arm.
    std::array<Attribution, kMembers> attributions(std::uint32_t arm, const double* context) const;
    // What members say of one arm, before they learn what it paid; and its support.
    struct Before {
        Opinions opinions;
        float support;
    };
    Before learn(std::uint32_t arm, const double* context, double reward, std::uint64_t number);

    void write(ByteWriter& out) const;
    static Members read(ByteReader& in, bool binary);

 private:
    // A context as members see it.
    struct Coded {
        std::vector<std::uint8_t> codes;
        std::vector<float> scaled;
        Coded(const Coder& coder, const double* context);
    };
    Opinions opinions(double boosting, double forest, double linear) const;

    bool binary_;
    RewardScale scale_;
    Coder coder_;
    Boosting boosting_;
    Forest forest_;
    Linear linear_;
};

}  // namespace banditree
