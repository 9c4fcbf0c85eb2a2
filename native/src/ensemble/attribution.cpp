#include "banditree/ensemble/attribution.hpp"

namespace banditree {

namespace {

// Mean of the leaves below each node. Children come after their parents.
std::vector<double> node_means(const SharedTree& tree, std::span<const float> leaf_values,
                               std::span<const float> leaf_contexts) {
    const std::vector<SharedTree::Node>& nodes = tree.nodes();
    std::vector<double> means(nodes.size()), contexts(nodes.size());
    for (std::size_t i = nodes.size(); i-- > 0;) {
        const SharedTree::Node& node = nodes[i];
        if (node.child == 0) {
            means[i] = leaf_values[node.left_codes];
            contexts[i] = leaf_contexts[node.left_codes];
            continue;
        }
        const double left = contexts[node.child], right = contexts[node.child + 1];
        contexts[i] = left + right;
        means[i] = (left * means[node.child] + right * means[node.child + 1]) / contexts[i];
    }
    return means;
}

}  // namespace

void attribute(const SharedTree& tree, std::span<const float> leaf_values,
               std::span<const float> leaf_contexts, const std::uint8_t* codes, double factor,
               Attribution& attribution) {
    const std::vector<double> means = node_means(tree, leaf_values, leaf_contexts);
    const std::vector<SharedTree::Node>& nodes = tree.nodes();
    attribution.base += factor * means[0];
    for (std::size_t at = 0; nodes[at].child != 0;) {
        const SharedTree::Node& node = nodes[at];
        const std::size_t next = tree.child_of(node, codes);
        attribution.of_feature[node.feature] += factor * (means[next] - means[at]);
        at = next;
    }
}

}  // namespace banditree
