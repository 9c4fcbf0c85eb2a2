// A linear model of each arm, learned one observation at a time by AdaGrad.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/ensemble/attribution.hpp"
#include "banditree/ensemble/coded_rows.hpp"
#include "banditree/random/rng.hpp"

namespace banditree {

class Linear {
 public:
    // A score is a logit if rewards are binary, otherwise a mean.
    explicit Linear(bool binary) : binary_(binary) {}

    // For inputs of another coder: what is known of a category or of a number stays. Arms that are
    // new begin with the mean of the others.
    Linear adapted(const Coder& before, const Coder& coder, std::uint32_t n_arms) const;
    // Learns rows again, in random order; gradients of before count less.
    void replay(const CodedRows& rows, double epochs, Rng& rng);
    void learn(const std::uint8_t* codes, const float* scaled, std::uint32_t arm, float reward);
    // The score of each arm; those to come have none, 0.
    void predict(const std::uint8_t* codes, const float* scaled, std::span<float> score) const;
    float score(const std::uint8_t* codes, const float* scaled, std::uint32_t arm) const;

    Attribution attribution(const Coder& coder, const std::uint8_t* codes, const float* scaled,
                            std::uint32_t arm) const;

    std::uint32_t n_arms() const { return n_arms_; }
    void write(ByteWriter& out) const;
    static Linear read(ByteReader& in, bool binary, const Coder& coder);

 private:
    // Input 0 is 1; then each feature has one input, or one for each code of a category.
    struct Inputs {
        std::vector<std::uint32_t> first;
        std::vector<std::uint8_t> is_category;
        std::uint32_t count = 1;

        Inputs() = default;
        explicit Inputs(const Coder& coder);
        // visit(input, its value) for each that is not 0.
        template <class Visit>
        void each(const std::uint8_t* codes, const float* scaled, Visit visit) const;
    };

    void copy_input(const Linear& from, std::uint32_t input, std::uint32_t into, double factor);
    void add_arms(std::uint32_t n_arms);
    void step(std::size_t weight, float gradient);
    void fit(const std::uint8_t* codes, const float* scaled, std::uint32_t arm, float reward);

    bool binary_;
    std::uint32_t n_arms_ = 0;
    Inputs inputs_;
    std::vector<float> weights_;  // of each input, arm by arm
    std::vector<float> squares_;  // of their gradients so far
    std::vector<double> counts_;  // observations of each arm
};

}  // namespace banditree
