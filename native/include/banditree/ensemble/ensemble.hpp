// Several learners on the observations of all arms, weighed by what each predicted before it knew;
// a decision draws each arm's mean reward from what they say together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "banditree/data/arm_rows.hpp"
#include "banditree/engines/engine.hpp"
#include "banditree/engines/gardener.hpp"
#include "banditree/ensemble/beliefs.hpp"
#include "banditree/ensemble/shared_rows.hpp"

namespace banditree {

struct EnsembleSettings {
    bool binary = true;
    std::size_t window = 0;           // only so many rows of each arm, the last ones, count; 0: all
    double refresh = 0.15;            // by which share rows grow until members are fitted again
    std::size_t most_rows = 100'000;  // that a fit reads
    std::size_t beside = 0;           // from so many rows on, they are fitted beside; 0: never
    std::uint64_t seed = 0;           // of what members draw
    MemberSettings members;
};

class Ensemble {
 public:
    explicit Ensemble(const EnsembleSettings& settings)
        : settings_(settings), beliefs_(settings.binary), gardener_(settings.beside) {}

    void add_arm();
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

    // Takes over members that have been fitted beside and begins fits that are due, as learning
    // does; returns whether any is under way. Throws what kept members from being fitted.
    bool tend();
    auto waiting() { return gardener_.waiting(); }

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
    friend class Gardener<Ensemble>;
    // An engine in which a fit is due: what was believed then, and after how many rows that was.
    struct Due {
        EnsembleBeliefs beliefs;
        std::uint64_t at = 0;

        Due(EnsembleBeliefs believed, std::uint64_t n) : beliefs(std::move(believed)), at(n) {}
    };
    // All arms together, as one that a Gardener looks after.
    struct Garden {
        Ensemble& engine;
        std::size_t n_arms() const { return 1; }
        bool is_due(std::uint32_t) const { return engine.due_ != nullptr; }
        std::unique_ptr<Ensemble> cutting(std::uint32_t) const { return engine.cutting(); }
        std::size_t n_since(std::uint32_t, const Ensemble& fitted) const {
            return engine.rows_.n_learned() - fitted.rows_.n_learned();
        }
        void plant(std::uint32_t, Ensemble&& fitted) { engine.plant(std::move(fitted)); }
    };
    bool is_due() const;
    bool fits_beside() const {
        return settings_.beside > 0 && rows_.n_learned() >= settings_.beside;
    }
    void take_in(std::uint32_t arm, const double* context, double reward);
    void fit();

    // What a fit beside needs; there, catch_up fits, and learns the rows that have come since.
    std::unique_ptr<Ensemble> cutting() const;
    void catch_up();
    void follow(const Ensemble& ahead);
    void plant(Ensemble&& fitted);
    void become(Ensemble&& other);

    void write_due(ByteWriter& out) const;
    std::shared_ptr<const Due> read_due(ByteReader& in, const SharedRows& rows, std::size_t n_arms,
                                        std::vector<std::uint64_t>& came_at) const;

    EnsembleSettings settings_;
    SharedRows rows_;
    EnsembleBeliefs beliefs_;
    std::uint64_t fitted_at_ = 0;  // after so many observations
    // While members are fitted beside, beliefs are those of the fit before; rows are all that the
    // fit needs, and those that came since.
    std::shared_ptr<const Due> due_;
    std::vector<std::uint64_t> came_at_;  // after how many observations each arm came
    Gardener<Ensemble> gardener_;
};

static_assert(Engine<Ensemble>);

}  // namespace banditree
