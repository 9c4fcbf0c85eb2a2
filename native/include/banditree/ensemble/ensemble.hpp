// Several learners on the observations of all arms, weighed by what each predicted before it knew;
// a decision draws each arm's mean reward from what they say together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/data/arm_rows.hpp"
#include "banditree/engines/engine.hpp"
#include "banditree/ensemble/beliefs.hpp"
#include "banditree/ensemble/shared_rows.hpp"

namespace banditree {

struct EnsembleSettings {
    bool binary = true;
    std::size_t window = 0;           // only so many rows of each arm, the last ones, count; 0: all
    double refresh = 0.15;            // by which share rows grow until members are fitted again
    std::size_t most_rows = 100'000;  // that a fit reads
    std::uint64_t seed = 0;           // of what members draw
    MemberSettings members;
};

class Ensemble {
 public:
    explicit Ensemble(const EnsembleSettings& settings)
        : settings_(settings), beliefs_(settings.binary) {}

    void add_arm() { beliefs_.add_arm(); }
    void set_kinds(const std::vector<Kind>& kinds);
    void learn(std::uint32_t arm, std::span<const double> context, double reward);
    // The same as learning the rows one by one.
    void learn_many(ArmIndices arms, const Matrix& contexts, std::span<const double> rewards);

    // Forgets all but so many rows of each arm, the last ones, and begins anew with these at once.
    void keep_last(std::span<const std::int64_t> counts);
    struct Window {
        std::size_t size;
    };
    Window window() const { return {settings_.window}; }

    // What decisions need, and nothing else.
    const EnsembleBeliefs& beliefs() const { return beliefs_; }
    const SharedRows& rows() const { return rows_; }
    std::size_t n_arms() const { return beliefs_.n_arms(); }
    const std::vector<Kind>& kinds() const { return rows_.kinds(); }

    void write(ByteWriter& out) const;
    // Becomes the engine, of the same settings, that was written. Throws std::invalid_argument,
    // having changed nothing, on what none has written.
    void read(ByteReader& in);

 private:
    bool is_due() const;
    void fit();

    EnsembleSettings settings_;
    SharedRows rows_;
    EnsembleBeliefs beliefs_;
    std::uint64_t fitted_at_ = 0;  // after so many observations
};

static_assert(Engine<Ensemble>);

}  // namespace banditree
