// How engines take an arm, from what they say of each.
#pragma once

#include <algorithm>
#include <vector>

#include "banditree/data/arm_rows.hpp"
#include "banditree/engines/leader.hpp"
#include "banditree/laws/posterior.hpp"

namespace banditree {

// Of each eligible arm, evidence_of(arm) is what its leaf says. The arm of the largest draw.
template <class EvidenceOf>
std::uint32_t draw_from_leaves(ArmIndices eligible, const Posterior& posterior,
                               const Spread& spread, Rng& rng, EvidenceOf evidence_of) {
    std::vector<Evidence> leaves;
    leaves.reserve(eligible.size());
    for (const auto id : eligible) leaves.push_back(evidence_of(static_cast<std::uint32_t>(id)));
    const double noise = noise_of(leaves);
    Leader leader(rng);
    for (std::size_t i = 0; i < leaves.size(); ++i)
        leader.offer(static_cast<std::uint32_t>(eligible[i]),
                     posterior.draw(leaves[i], spread, noise, rng));
    return leader.arm();
}

// The arm of the highest mean: no draw, but for ties.
template <class EvidenceOf>
std::uint32_t best_of_leaves(ArmIndices eligible, const Posterior& posterior, const Spread& spread,
                             Rng& rng, EvidenceOf evidence_of) {
    Leader leader(rng);
    for (const auto id : eligible) {
        const auto arm = static_cast<std::uint32_t>(id);
        leader.offer(arm, posterior.mean(evidence_of(arm), spread));
    }
    return leader.arm();
}

// One of the cold arms, if there are any; otherwise the arm of the largest draw(arm).
template <class IsCold, class Draw>
std::uint32_t cold_arms_first(ArmIndices eligible, Rng& rng, IsCold is_cold, Draw draw) {
    const bool any_cold = std::any_of(eligible.begin(), eligible.end(), [&](auto id) {
        return is_cold(static_cast<std::uint32_t>(id));
    });
    Leader leader(rng);
    for (const auto id : eligible) {
        const auto arm = static_cast<std::uint32_t>(id);
        leader.offer(arm, any_cold ? is_cold(arm) : draw(arm));
    }
    return leader.arm();
}

}  // namespace banditree
