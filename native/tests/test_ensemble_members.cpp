// The parts of the ensemble one by one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "banditree/ensemble/boosting.hpp"
#include "banditree/ensemble/forest.hpp"
#include "banditree/ensemble/linear.hpp"
#include "banditree/ensemble/logistic.hpp"
#include "banditree/ensemble/shared_rows.hpp"
#include "banditree/ensemble/stack.hpp"
#include "check.hpp"
#include "policy_rows.hpp"

using namespace banditree;
using namespace policy_rows;

namespace {

constexpr std::uint32_t kArms = 3;

SharedRows shared(const Rows& rows) {
    SharedRows shared;
    shared.set_kinds(kKinds);
    for (std::size_t i = 0; i < rows.size(); ++i)
        shared.append(static_cast<std::uint32_t>(rows.arms[i]), rows.context(i).data(), rows.y[i]);
    return shared;
}

// A context as members see it.
struct Seen {
    std::vector<std::uint8_t> codes;
    std::vector<float> scaled;

    Seen(const Coder& coder, const Values& context)
        : codes(coder.n_features()), scaled(coder.n_features()) {
        coder.encode(context.data(), codes.data(), scaled.data());
    }
};

// ---- The stack, by the inverse of a matrix ----

using Matrix4 = std::vector<Values>;

double determinant(const Matrix4& m) {
    if (m.empty()) return 1;
    double sum = 0;
    for (std::size_t column = 0; column < m.size(); ++column) {
        Matrix4 minor;
        for (std::size_t i = 1; i < m.size(); ++i) {
            minor.push_back(m[i]);
            minor.back().erase(minor.back().begin() + static_cast<std::ptrdiff_t>(column));
        }
        sum += (column % 2 == 0 ? 1 : -1) * m[0][column] * determinant(minor);
    }
    return sum;
}

// Cramer's rule.
Values solution(const Matrix4& m, const Values& right) {
    Values found;
    for (std::size_t column = 0; column < right.size(); ++column) {
        Matrix4 replaced = m;
        for (std::size_t i = 0; i < right.size(); ++i) replaced[i][column] = right[i];
        found.push_back(determinant(replaced) / determinant(m));
    }
    return found;
}

struct NaiveStack {
    bool binary;
    Values weights{1.0 / 3, 1.0 / 3, 1.0 / 3, 0};
    Matrix4 curvature{{5, 0, 0, 0}, {0, 5, 0, 0}, {0, 0, 5, 0}, {0, 0, 0, 20}};

    void learn(Values inputs, double reward) {
        inputs.push_back(1);
        const double score = std::inner_product(inputs.begin(), inputs.end(), weights.begin(), 0.0);
        const double mean = binary ? 1 / (1 + std::exp(-score)) : score;
        const double variance = binary ? std::max(0.01, mean * (1 - mean)) : 1;
        Values gradient;
        for (std::size_t i = 0; i < 4; ++i) {
            gradient.push_back(inputs[i] * (reward - mean));
            for (std::size_t j = 0; j < 4; ++j) curvature[i][j] += variance * inputs[i] * inputs[j];
        }
        const Values step = solution(curvature, gradient);
        for (std::size_t i = 0; i < 4; ++i) {
            weights[i] += step[i];
            if (i < 3) weights[i] = std::max(weights[i], 0.0);
        }
    }
};

// ---- Forests, as their bytes tell ----

struct BagSeen {
    SharedTree tree;
    std::vector<float> mean, weight;  // of each leaf and arm, the last of all together

    // Of few arms, leaves have rows in their order.
    explicit BagSeen(ByteReader& in) : tree(SharedTree::read(in, kKinds.size())) {
        in.get<float>();
        std::vector<float> means, weights;
        for (std::size_t leaf = 0; leaf < tree.n_leaves(); ++leaf) {
            means.push_back(in.get<float>());
            weights.push_back(in.get<float>());
            for (int i = 0; i < 3; ++i) in.get<std::uint32_t>();
        }
        const auto rows = in.array<float>(), weights_of_rows = in.array<float>();
        for (std::size_t leaf = 0; leaf < means.size(); ++leaf) {
            for (std::size_t arm = 0; arm < kArms; ++arm) {
                mean.push_back(rows[leaf * kArms + arm]);
                weight.push_back(weights_of_rows[leaf * kArms + arm]);
            }
            mean.push_back(means[leaf]);
            weight.push_back(weights[leaf]);
        }
        in.array<float>();
        CHECK(in.length(12) == 1);
        for (int i = 0; i < 3; ++i) in.get<std::uint32_t>();
        CHECK(in.length(8) == 0 && in.length(16) == 0);
    }
};

std::vector<BagSeen> bags_of(const Forest& forest) {
    ByteWriter out;
    forest.write(out);
    const std::vector<std::uint8_t> bytes = out.take();
    ByteReader in(bytes);
    in.get<std::uint64_t>();
    in.array<float>();
    std::vector<BagSeen> bags;
    for (std::size_t i = in.length(1); i > 0; --i) bags.emplace_back(in);
    in.finish();
    return bags;
}

// Members fitted to rows of three arms.
struct Fitted {
    Rows rows;
    SharedRows kept;
    Coder coder;
    CodedRows coded;
    Boosting boosting;
    Forest forest;
    Linear linear;

    Fitted(std::uint64_t seed, bool binary, std::size_t n = 300) : linear(binary) {
        Rng rng(seed);
        rows = random_rows(rng, n, kArms, binary);
        kept = shared(rows);
        coder = Coder(kept.columns(), kKinds);
        coded = kept.coded(coder, kArms);
        const std::vector<float> start{0.4f, 0.3f, 0.2f, 0.3f};
        BoostingSettings boosts;
        boosts.n_trees = 30;
        boosting = Boosting::fit(coded, coder, binary, start, boosts, rng);
        forest = Forest::fit(coded, coder, start, {}, seed);
        linear = linear.adapted(Coder(), coder, kArms);
        for (std::size_t i = 0; i < coded.size(); ++i)
            linear.learn(coded.row_codes(i), coded.row_scaled(i), coded.arms[i], coded.rewards[i]);
    }
    Values random_known(Rng& rng) const {
        Values context = random_context(rng);
        while (std::isnan(context[0]) || std::isnan(context[1]) || std::isnan(context[2]))
            context = random_context(rng);
        return context;
    }
};

}  // namespace

// ---- The stack ----

TEST(ensemble_stack_takes_newton_steps) {
    for (const bool binary : {true, false}) {
        Rng rng(31);
        Stack stack(3, binary);
        NaiveStack naive{binary};
        for (int round = 0; round < 300; ++round) {
            Values inputs{rng.normal(), 2 * rng.normal(), rng.normal() - 1};
            const double score = 2 * inputs[0] - inputs[1] + 0.3 + rng.normal();
            const double reward = binary ? score > 0 : score;
            stack.learn(inputs, reward);
            naive.learn(inputs, reward);
            for (std::size_t i = 0; i < 4; ++i)
                CHECK_NEAR(stack.weights()[i], naive.weights[i], 1e-9);
            for (std::size_t i = 0; i < 3; ++i) CHECK(stack.weights()[i] >= 0);
        }
        // The second input speaks against the reward, and gets no say.
        CHECK(stack.weights()[0] > 1 && stack.weights()[1] < 0.01);
    }
}

// ---- The coder ----

TEST(ensemble_coder_codes_columns_as_contexts) {
    const Fitted fitted(8, true);
    for (std::size_t i = 0; i < fitted.rows.size(); ++i) {
        const auto context = fitted.rows.context(i);
        const Seen seen(fitted.coder, {context.begin(), context.end()});
        for (std::uint32_t f = 0; f < kKinds.size(); ++f) {
            const RawColumn& column = fitted.kept.columns()[f];
            CHECK(seen.codes[f] == fitted.coder.codes_of(f, column)[i]);
            CHECK(seen.codes[f] == fitted.coded.row_codes(i)[f]);
            CHECK(seen.scaled[f] == fitted.coder.scaled_of(f, column)[i]);
            CHECK(seen.scaled[f] == fitted.coded.row_scaled(i)[f]);
        }
    }
}

// ---- The linear member ----

TEST(ensemble_linear_scores_the_same_under_another_coder) {
    const Fitted fitted(12, true);
    Rng rng(13);
    Rows more = random_rows(rng, 900, kArms, true);
    for (std::size_t i = 0; i < more.size(); ++i) {
        more.cells[3 * i] = 3 * more.cells[3 * i] + 1;
        if (more.cells[3 * i + 1] == 0 && i % 2 == 0) more.cells[3 * i + 1] = 4;
        more.cells[3 * i + 2] -= 0.5;
    }
    const Coder coder(shared(more).columns(), kKinds);
    CHECK(coder.code_of(1, 4) != fitted.coder.code_of(1, 4));
    const Linear adapted = fitted.linear.adapted(fitted.coder, coder, kArms + 1);
    for (int i = 0; i < 200; ++i) {
        const Values context = fitted.random_known(rng);
        const Seen was(fitted.coder, context), is(coder, context);
        double sum = 0;
        for (std::uint32_t arm = 0; arm < kArms; ++arm) {
            const float before = fitted.linear.score(was.codes.data(), was.scaled.data(), arm);
            CHECK_NEAR(adapted.score(is.codes.data(), is.scaled.data(), arm), before, 1e-4);
            sum += before;
        }
        CHECK_NEAR(adapted.score(is.codes.data(), is.scaled.data(), kArms), sum / kArms, 1e-4);
    }
}

TEST(ensemble_linear_predicts_as_it_scores) {
    Fitted fitted(14, false);
    Rng rng(15);
    for (int i = 0; i < 50; ++i) {
        const Seen seen(fitted.coder, random_context(rng));
        std::vector<float> scores(kArms + 2);
        fitted.linear.predict(seen.codes.data(), seen.scaled.data(), scores);
        for (std::uint32_t arm = 0; arm < scores.size(); ++arm)
            CHECK_NEAR(scores[arm], fitted.linear.score(seen.codes.data(), seen.scaled.data(), arm),
                       1e-6);
        CHECK(scores[kArms] == 0);
    }
}

// Features that the rows that are left have no values of.
TEST(ensemble_linear_is_adapted_to_fewer_features) {
    const Fitted fitted(16, true);
    Rows rest;
    for (int i = 0; i < 30; ++i) rest.add(Values{i * 1.0, kNan, kNan}, i % 2, i % kArms);
    const Coder coder(shared(rest).columns(), kKinds);
    CHECK(coder.n_features() == 1);
    const Linear adapted = fitted.linear.adapted(fitted.coder, coder, kArms);
    const Seen was(fitted.coder, {4, kNan, kNan}), is(coder, {4, kNan, kNan});
    CHECK(std::isfinite(adapted.score(is.codes.data(), is.scaled.data(), 1)));
}

// ---- The forest ----

TEST(ensemble_forest_learns_weighted_means) {
    for (const bool binary : {true, false}) {
        Fitted fitted(20, binary);
        Rng rng(21);
        double times = 0;
        std::size_t drawn = 0;
        for (std::uint64_t number = 1000; number < 1200; ++number) {
            const Seen seen(fitted.coder, random_context(rng));
            const auto arm = static_cast<std::uint32_t>(rng.integer(kArms + 1));
            const auto reward = static_cast<float>(binary ? rng.integer(2) : rng.normal());
            const std::vector<BagSeen> before = bags_of(fitted.forest);
            fitted.forest.learn(seen.codes.data(), arm, reward, number);
            const std::vector<BagSeen> after = bags_of(fitted.forest);
            for (std::size_t b = 0; b < before.size(); ++b) {
                const std::size_t leaf = before[b].tree.leaf_of(seen.codes.data());
                const std::size_t all = leaf * (kArms + 1) + kArms;
                const float weight = after[b].weight[all] - before[b].weight[all];
                times += weight;
                ++drawn;
                for (std::size_t i = 0; i < after[b].mean.size(); ++i) {
                    const bool is_of_row = i == leaf * (kArms + 1) + arm || i == all;
                    const float more = is_of_row ? weight : 0;
                    const float total = before[b].weight[i] + more;
                    CHECK_NEAR(after[b].weight[i], total, 1e-5);
                    CHECK_NEAR(after[b].mean[i],
                               (before[b].weight[i] * before[b].mean[i] + more * reward) / total,
                               1e-5);
                }
            }
        }
        const auto n = static_cast<double>(drawn);
        CHECK_NEAR(times / n, 1, 4 / std::sqrt(n));
    }
}

TEST(ensemble_members_predict_one_arm_as_all) {
    const Fitted fitted(22, true);
    Rng rng(23);
    for (int i = 0; i < 50; ++i) {
        const Seen seen(fitted.coder, random_context(rng));
        std::vector<float> means(kArms + 2), scores(kArms + 2), support(kArms + 2);
        fitted.forest.predict(seen.codes.data(), means);
        fitted.boosting.predict(seen.codes.data(), scores, support);
        for (std::uint32_t arm = 0; arm < means.size(); ++arm) {
            CHECK_NEAR(means[arm], fitted.forest.mean(seen.codes.data(), arm), 1e-6);
            CHECK_NEAR(scores[arm], fitted.boosting.score(seen.codes.data(), arm), 1e-6);
            CHECK_NEAR(support[arm], fitted.boosting.support(seen.codes.data(), arm), 1e-5);
            CHECK((support[arm] == 0) == (arm >= kArms) || support[arm] == 0);
        }
    }
}

// ---- Attributions ----

TEST(ensemble_attributions_add_up) {
    for (const bool binary : {true, false}) {
        const Fitted fitted(24, binary);
        Rng rng(25);
        for (int i = 0; i < 50; ++i) {
            const Seen seen(fitted.coder, random_context(rng));
            const std::uint8_t* codes = seen.codes.data();
            const float* scaled = seen.scaled.data();
            for (std::uint32_t arm = 0; arm <= kArms; ++arm) {
                const std::size_t m = kKinds.size();
                CHECK_NEAR(fitted.boosting.attribution(codes, arm, m).total(),
                           fitted.boosting.score(codes, arm), 2e-6);
                CHECK_NEAR(fitted.forest.attribution(codes, arm, m).total(),
                           fitted.forest.mean(codes, arm), 2e-6);
                CHECK_NEAR(fitted.linear.attribution(fitted.coder, codes, scaled, arm).total(),
                           fitted.linear.score(codes, scaled, arm), 2e-6);
            }
        }
    }
}

// The contexts of the fit are predicted the base on average.
TEST(ensemble_attributions_start_from_the_average) {
    const Fitted fitted(26, false);
    double mean = 0;
    const auto n = static_cast<double>(fitted.coded.size());
    for (std::size_t i = 0; i < fitted.coded.size(); ++i)
        mean += fitted.boosting.score(fitted.coded.row_codes(i), 0) / n;
    const std::uint8_t* codes = fitted.coded.row_codes(0);
    CHECK_NEAR(fitted.boosting.attribution(codes, 0, kKinds.size()).base, mean, 1e-5);
}
