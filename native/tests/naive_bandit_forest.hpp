// BanditForest as the paper writes it: every node keeps its observations, and every mean is taken
// over them anew. Bits come as they are, without a binarizer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "banditree/bandit_forest/bandit_tree.hpp"
#include "banditree/random/rng.hpp"

namespace naive {

using Word = std::vector<bool>;
using Set = std::set<std::uint32_t>;

struct Seen {
    std::uint32_t arm;
    Word bits;
    double reward;
};

struct Node {
    std::uint32_t depth;
    double epsilon;
    Set variables;                                       // S_c
    std::map<std::pair<std::uint32_t, bool>, Set> arms;  // A_{c,i,v}
    std::vector<Seen> seen;
    std::unique_ptr<Node> child[2];
};

class Forest {
 public:
    Forest(const banditree::ForestSettings& settings, std::uint32_t n_variables,
           std::uint32_t n_arms)
        : settings_(settings), m_(n_variables), k_(n_arms), created_(settings.n_trees, 0) {
        for (std::uint32_t tree = 0; tree < settings.n_trees; ++tree)
            roots_.push_back(new_path(tree, 1, {}));
    }

    void learn(const Seen& seen) {
        for (std::uint32_t tree = 0; tree < roots_.size(); ++tree) {
            Set used;
            Node& c = leaf(tree, seen.bits, &used);
            c.seen.push_back(seen);
            if (c.variables.size() > 1) eliminate_variables(c);
            if (c.depth == settings_.depth)
                for (const auto i : c.variables) eliminate_arms(c, i, seen.bits[i]);
            if (c.variables.size() > 1 || c.depth == settings_.depth) continue;
            used.insert(*c.variables.begin());
            for (auto& child : c.child) child = new_path(tree, c.depth + 1, used);
        }
    }

    // The arms that the forest draws from, all of them eligible.
    Set choices(const Word& bits) {
        Set tried;
        std::map<std::uint32_t, int> votes;
        for (std::uint32_t tree = 0; tree < roots_.size(); ++tree) {
            const Node& c = leaf(tree, bits, nullptr);
            const auto i = *c.variables.begin();
            const bool selected = c.variables.size() == 1 && c.depth == settings_.depth;
            const Set left = selected ? c.arms.at({i, bits[i]}) : all_arms();
            if (left.size() > 1) tried.insert(left.begin(), left.end());
            ++votes[*left.begin()];
        }
        if (!tried.empty()) return tried;
        int most = 0;
        for (const auto& [arm, n] : votes) most = std::max(most, n);
        for (const auto& [arm, n] : votes)
            if (n == most) tried.insert(arm);
        return tried;
    }

 private:
    Set all_arms() const {
        Set arms;
        for (std::uint32_t arm = 0; arm < k_; ++arm) arms.insert(arm);
        return arms;
    }

    Node& leaf(std::uint32_t tree, const Word& bits, Set* used) {
        Node* node = roots_[tree].get();
        while (node->child[0]) {
            const auto i = *node->variables.begin();
            if (used) used->insert(i);
            node = node->child[bits[i]].get();
        }
        return *node;
    }

    std::unique_ptr<Node> new_path(std::uint32_t tree, std::uint32_t depth, const Set& used) {
        banditree::Rng rng = banditree::Rng(settings_.seed).child(tree).child(created_[tree]++);
        auto node = std::make_unique<Node>();
        node->depth = depth;
        node->epsilon = settings_.epsilon_low +
                        (settings_.epsilon_high - settings_.epsilon_low) * rng.uniform();
        std::vector<std::uint32_t> left;
        for (std::uint32_t i = 0; i < m_; ++i)
            if (!used.count(i)) left.push_back(i);
        const std::size_t size = std::max<std::size_t>(1, left.size() * 4 / 5);
        for (std::size_t i = 0; i < size; ++i) {
            std::swap(left[i], left[i + rng.integer(left.size() - i)]);
            node->variables.insert(left[i]);
        }
        for (const auto i : node->variables)
            for (const bool v : {false, true}) node->arms[{i, v}] = all_arms();
        return node;
    }

    static double count(const Node& c, std::uint32_t arm) {
        return std::count_if(c.seen.begin(), c.seen.end(),
                             [arm](const Seen& s) { return s.arm == arm; });
    }

    // Over the plays of an arm: number and sum of rewards of those with x_i = v.
    static std::pair<double, double> cell(const Node& c, std::uint32_t arm, std::uint32_t i,
                                          bool v) {
        std::pair<double, double> result{0, 0};
        for (const Seen& s : c.seen)
            if (s.arm == arm && s.bits[i] == v) ++result.first, result.second += s.reward;
        return result;
    }

    void eliminate_variables(Node& c) const {
        double t = 1e300;
        std::map<std::uint32_t, double> plays;
        for (const auto arm : all_arms()) t = std::min(t, plays[arm] = count(c, arm));
        if (t == 0) return;
        std::map<std::uint32_t, double> mu;
        for (const auto i : c.variables)
            for (const bool v : {false, true}) {
                double best = 0;
                for (const auto arm : all_arms())
                    best = std::max(best, cell(c, arm, i, v).second / plays[arm]);
                mu[i] += best;
            }
        const double inside = 4.0 * k_ * m_ * settings_.depth * settings_.n_trees * t * t;
        const double right =
            settings_.radius * 4 * std::sqrt(std::log(inside / settings_.delta) / (2 * t));
        drop(c.variables, mu, c.epsilon, right);
    }

    void eliminate_arms(Node& c, std::uint32_t i, bool v) const {
        Set& left = c.arms.at({i, v});
        double t = 1e300;
        std::map<std::uint32_t, double> mu;
        for (const auto arm : left) {
            const auto [n, sum] = cell(c, arm, i, v);
            t = std::min(t, n);
            mu[arm] = sum / n;
        }
        if (t == 0) return;
        const double inside = 4.0 * k_ * settings_.n_trees * t * t;
        drop(left, mu, c.epsilon,
             settings_.radius * 2 * std::sqrt(std::log(inside / settings_.delta) / (2 * t)));
    }

    static void drop(Set& left, const std::map<std::uint32_t, double>& mu, double epsilon,
                     double right) {
        const auto best = std::max_element(
            mu.begin(), mu.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        for (const auto& [item, value] : mu)
            if (item != best->first && best->second - value + epsilon >= right) left.erase(item);
    }

    banditree::ForestSettings settings_;
    std::uint32_t m_, k_;
    std::vector<std::uint64_t> created_;
    std::vector<std::unique_ptr<Node>> roots_;
};

}  // namespace naive
