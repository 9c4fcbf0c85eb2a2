#include "banditree/engines/frozen_trees.hpp"

#include <cmath>
#include <limits>

#include "banditree/engines/deciding.hpp"

namespace banditree {

std::uint32_t FrozenTrees::decide(const double* context, ArmIndices eligible, Rng& rng) const {
    if (rule_ == Rule::posterior)
        return draw_from_leaves(eligible, posterior_, spread_, rng,
                                [&](std::uint32_t arm) { return evidence(arm, context); });
    return cold_arms_first(
        eligible, rng, [&](std::uint32_t arm) { return arms_[arm].cold; },
        [&](std::uint32_t arm) {
            const auto& replicas = arms_[arm].replicas;
            const Replica& drawn = replicas[rng.integer(replicas.size())];
            return drawn.predictions[drawn.tree.leaf_of(context)];
        });
}

std::uint32_t FrozenTrees::decide_greedily(const double* context, ArmIndices eligible,
                                           Rng& rng) const {
    return best_of_leaves(eligible, posterior_, spread_, rng,
                          [&](std::uint32_t arm) { return evidence(arm, context); });
}

Evidence FrozenTrees::evidence(std::uint32_t id, const double* context) const {
    const Arm& arm = arms_[id];
    return arm.leaves.empty() ? Evidence{} : arm.leaves[arm.tree.leaf_of(context)];
}

std::vector<double> FrozenTrees::predictions(std::uint32_t arm, const double* context) const {
    std::vector<double> predictions;
    predictions.reserve(arms_[arm].replicas.size());
    for (const Replica& replica : arms_[arm].replicas)
        predictions.push_back(replica.predictions[replica.tree.leaf_of(context)]);
    return predictions;
}

double FrozenTrees::predict(std::uint32_t arm, const double* context) const {
    const Evidence leaf = evidence(arm, context);
    return leaf.total / leaf.n;
}

std::vector<double> FrozenTrees::made_up(std::uint32_t id, const double* context) const {
    const Arm& arm = arms_[id];
    if (arm.made_up_leaf != arm.tree.leaf_of(context)) return {};
    const auto rewards = made_up_rewards(posterior_.binary, spread_);
    return {rewards.begin(), rewards.end()};
}

namespace {

// What two children say together.
void join(Node& node, const Node& left, const Node& right) {
    node.n = left.n + right.n;
    node.weight = left.weight + right.weight;
    const double difference = right.mean - left.mean;
    const double share = node.weight > 0 ? right.weight / node.weight : 0;
    node.mean = left.mean + share * difference;
    node.gain = difference * difference * left.weight * share;
    node.cost = left.cost + right.cost + node.gain;
}

}  // namespace

Tree FrozenTrees::tree(std::uint32_t id) const {
    const Arm& arm = arms_[id];
    Tree tree = arm.tree.unfolded();
    std::size_t leaf = arm.leaves.size();
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        Node& node = tree.nodes[i];
        if (!node.is_leaf()) {
            join(node, tree.nodes[i + 1], tree.nodes[static_cast<std::size_t>(node.right)]);
            continue;
        }
        const Evidence& evidence = arm.leaves[--leaf];
        node.n = static_cast<std::uint32_t>(evidence.n);
        node.weight = evidence.n;
        node.mean = evidence.n > 0 ? evidence.total / evidence.n : 0;
        node.cost = evidence.squared_error;
    }
    return tree;
}

std::vector<Evidence> evidence_of(std::span<const Moments> leaves, double offset) {
    std::vector<Evidence> evidence;
    for (const Moments& leaf : leaves) evidence.push_back(Evidence::of(leaf, offset));
    return evidence;
}

// State.

namespace {

constexpr double kHighest = std::numeric_limits<double>::max();
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

std::vector<double> finite_numbers(ByteReader& reader, std::size_t count, double least) {
    auto numbers = reader.array<double>();
    ByteReader::require(numbers.size() == count);
    for (const double number : numbers) ByteReader::require(number >= least && number <= kHighest);
    return numbers;
}

void write_leaves(ByteWriter& writer, const std::vector<Evidence>& leaves) {
    std::vector<double> n, total, squared_error;
    for (const Evidence& leaf : leaves) {
        n.push_back(leaf.n);
        total.push_back(leaf.total);
        squared_error.push_back(leaf.squared_error);
    }
    writer.array(n);
    writer.array(total);
    writer.array(squared_error);
}

std::vector<Evidence> read_leaves(ByteReader& reader, std::size_t count) {
    const auto n = finite_numbers(reader, count, 0);
    const auto total = finite_numbers(reader, count, -kHighest);
    const auto squared_error = finite_numbers(reader, count, 0);
    std::vector<Evidence> leaves;
    for (std::size_t i = 0; i < count; ++i) {
        // A node counts its rows in 32 bits.
        ByteReader::require(n[i] < 4294967296.0);
        leaves.push_back({n[i], total[i], squared_error[i]});
    }
    return leaves;
}

void write_arm(ByteWriter& writer, const FrozenTrees::Arm& arm) {
    writer.put(arm.n_rows);
    writer.put<std::uint8_t>(arm.cold);
    writer.put<std::uint8_t>(!arm.leaves.empty());
    if (!arm.leaves.empty()) {
        arm.tree.write(writer);
        write_leaves(writer, arm.leaves);
        writer.put(arm.made_up_leaf.value_or(kNowhere));
    }
    writer.put<std::uint64_t>(arm.replicas.size());
    for (const auto& replica : arm.replicas) {
        replica.tree.write(writer);
        writer.array(replica.predictions);
    }
}

FrozenTrees::Arm read_arm(ByteReader& reader, const std::vector<Kind>& kinds) {
    FrozenTrees::Arm arm;
    arm.n_rows = reader.get<std::uint64_t>();
    arm.cold = reader.flag();
    if (reader.flag()) {
        arm.tree = FlatTree::read(reader, kinds);
        arm.leaves = read_leaves(reader, arm.tree.n_leaves());
        const auto leaf = reader.get<std::uint32_t>();
        ByteReader::require(leaf == kNowhere || leaf < arm.leaves.size());
        if (leaf != kNowhere) arm.made_up_leaf = leaf;
    }
    arm.replicas.resize(reader.length(sizeof(std::uint64_t)));
    for (auto& replica : arm.replicas) {
        replica.tree = FlatTree::read(reader, kinds);
        replica.predictions = finite_numbers(reader, replica.tree.n_leaves(), -kHighest);
    }
    return arm;
}

}  // namespace

void FrozenTrees::write(ByteWriter& writer) const {
    writer.put(static_cast<std::uint8_t>(rule_));
    writer.put<std::uint8_t>(posterior_.binary);
    writer.put(posterior_.successes);
    writer.put(posterior_.failures);
    spread_.write(writer);
    std::vector<std::uint8_t> kinds;
    for (const Kind kind : kinds_) kinds.push_back(static_cast<std::uint8_t>(kind));
    writer.array(kinds);
    writer.put<std::uint64_t>(arms_.size());
    for (const Arm& arm : arms_) write_arm(writer, arm);
}

FrozenTrees FrozenTrees::read(ByteReader& reader) {
    const Rule rule = reader.flag() ? Rule::replicas : Rule::posterior;
    Posterior posterior;
    posterior.binary = reader.flag();
    // Never 0: no law has such a shape.
    posterior.successes = reader.between(std::numeric_limits<double>::min(), kHighest);
    posterior.failures = reader.between(std::numeric_limits<double>::min(), kHighest);
    const Spread spread = Spread::read(reader);
    std::vector<Kind> kinds;
    for (const std::uint8_t kind : reader.array<std::uint8_t>()) {
        ByteReader::require(kind <= 1);
        kinds.push_back(static_cast<Kind>(kind));
    }
    std::vector<Arm> arms(reader.length(sizeof(std::uint64_t)));
    for (Arm& arm : arms) {
        arm = read_arm(reader, kinds);
        // Nothing could be drawn.
        ByteReader::require(rule == Rule::posterior || arm.cold || !arm.replicas.empty());
        for (const Evidence& leaf : arm.leaves)
            ByteReader::require(!posterior.binary ||
                                (leaf.total + posterior.successes > 0 &&
                                 leaf.n - leaf.total + posterior.failures > 0));
    }
    reader.finish();
    return {rule, posterior, spread, kinds, std::move(arms)};
}

}  // namespace banditree
