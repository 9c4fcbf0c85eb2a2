#include "banditree/bandit_forest/bandit_forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace banditree {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kUnknownReward = 0.5;
constexpr std::uint32_t kFormat = 2;  // of dump

void check_settings(const ForestSettings& settings) {
    if (settings.n_trees == 0) throw std::invalid_argument("a forest needs at least one tree");
    if (settings.depth == 0) throw std::invalid_argument("depth must be at least 1");
    if (!(settings.delta > 0 && settings.delta < 1))
        throw std::invalid_argument("delta must be between 0 and 1");
    if (!(settings.epsilon_low >= 0 && settings.epsilon_high >= settings.epsilon_low &&
          settings.epsilon_high <= 1))
        throw std::invalid_argument("epsilon must be a range within [0, 1]");
    if (!(settings.radius > 0 && std::isfinite(settings.radius)))
        throw std::invalid_argument("radius must be a positive number");
}

// Of the arm in the smallest part of the path where it was played.
Tally smallest_tally(std::span<const BanditStump* const> path, const BitView& bits,
                     std::uint32_t arm) {
    for (auto stump = path.rbegin(); stump != path.rend(); ++stump) {
        if ((*stump)->selected()) {
            const Tally cell = (*stump)->cell(arm, bits[(*stump)->variable()]);
            if (cell.count > 0) return cell;
        }
        if ((*stump)->plays(arm).count > 0) return (*stump)->plays(arm);
    }
    return {};
}

double mean_or_unknown(const Tally& tally) {
    return tally.count > 0 ? tally.mean() : kUnknownReward;
}

// The arm that is left; or, where it is not on offer, the one with the highest mean among those
// that were played. Without any, the number of eligible arms.
std::size_t vote(const BanditStump& leaf, bool value, std::span<const std::uint32_t> eligible) {
    std::size_t best = eligible.size();
    double highest = -1;
    for (std::size_t i = 0; i < eligible.size(); ++i) {
        if (leaf.remains(eligible[i], value)) return i;
        const Tally cell = leaf.cell(eligible[i], value);
        if (cell.count > 0 && cell.mean() > highest) best = i, highest = cell.mean();
    }
    return best;
}

}  // namespace

BanditForest::BanditForest(const ForestSettings& settings) : settings_(settings) {
    check_settings(settings);
}

void BanditForest::set_kinds(std::vector<Kind> kinds) {
    if (kinds.size() < kinds_.size()) throw std::invalid_argument("features cannot be taken away");
    for (std::uint32_t f = 0; f < kinds_.size(); ++f) {
        if (kinds[f] == kinds_[f]) continue;
        const bool seen = std::any_of(buffer_.begin(), buffer_.end(), [f](const Observation& seen) {
            return !std::isnan(seen.context[f]);
        });
        if (seen || binarizer_.uses(f))
            throw std::invalid_argument("feature " + std::to_string(f) +
                                        " has values of the other kind");
    }
    for (Observation& observation : buffer_) observation.context.resize(kinds.size(), kNan);
    kinds_ = std::move(kinds);
}

void BanditForest::add_arm() {
    active_.push_back(1);
    for (BanditTree& tree : trees_) tree.add_arm();
}

void BanditForest::set_active(std::uint32_t arm, bool active) {
    if (is_active(arm) == active) return;
    active_[arm] = active;
    for (BanditTree& tree : trees_) tree.arms_changed(active_);
}

void BanditForest::check_context(Context context) const {
    if (context.size() != kinds_.size())
        throw std::invalid_argument("context has length " + std::to_string(context.size()) +
                                    ", expected " + std::to_string(kinds_.size()));
}

void BanditForest::check_eligible(Arms eligible) const {
    if (eligible.empty()) throw std::invalid_argument("no arm is eligible");
    std::vector<bool> seen(n_arms());
    for (const std::uint32_t arm : eligible) {
        if (arm >= n_arms()) throw std::out_of_range("no arm " + std::to_string(arm));
        if (!active_[arm] || seen[arm])
            throw std::invalid_argument("arm " + std::to_string(arm) +
                                        (seen[arm] ? " is eligible twice" : " is not active"));
        seen[arm] = true;
    }
}

Contest BanditForest::contest() const {
    const auto k = static_cast<double>(std::count(active_.begin(), active_.end(), 1));
    const double arm_factor = 4 * k * settings_.n_trees / settings_.delta;
    const auto m = static_cast<double>(bits().size());
    return {active_, arm_factor * m * settings_.depth, arm_factor, settings_.radius};
}

void BanditForest::learn(std::uint32_t arm, Context context, double reward) {
    check_context(context);
    if (arm >= n_arms()) throw std::out_of_range("no arm " + std::to_string(arm));
    if (!(reward >= 0 && reward <= 1)) throw std::invalid_argument("rewards must be in [0, 1]");
    if (warming_up()) {
        buffer_.push_back({arm, reward, {context.begin(), context.end()}});
        if (buffer_.size() == settings_.warm_up) plant();
        return;
    }
    const BitView view(bits(), context);
    const Contest terms = contest();
    for (BanditTree& tree : trees_) tree.learn(arm, reward, view, terms);
}

void BanditForest::plant() {
    std::vector<double> cells;
    for (const Observation& seen : buffer_)
        cells.insert(cells.end(), seen.context.begin(), seen.context.end());
    binarizer_ = Binarizer({cells.data(), buffer_.size(), kinds_.size()}, kinds_);
    for (std::uint32_t number = 0; number < settings_.n_trees; ++number)
        trees_.emplace_back(settings_, number, bits().size(), n_arms());
    const std::vector<Observation> observations = std::exchange(buffer_, {});
    for (const Observation& seen : observations) learn(seen.arm, seen.context, seen.reward);
}

std::vector<std::uint32_t> BanditForest::choices(Context context, Arms eligible) const {
    check_context(context);
    check_eligible(eligible);
    const std::vector<std::uint32_t> all(eligible.begin(), eligible.end());
    if (warming_up()) return all;

    const BitView view(bits(), context);
    std::vector<bool> tried(n_arms());
    bool exploring = false;
    for (const BanditTree& tree : trees_) {
        const BanditStump& leaf = tree.leaf(view);
        // Leaving out an arm for one value would bias the comparison of the variables.
        if (!leaf.selected() || !leaf.deepest()) return all;
        const bool value = view[leaf.variable()];
        if (leaf.settled(value, active_)) continue;
        exploring = true;
        for (const std::uint32_t arm : eligible)
            if (leaf.remains(arm, value)) tried[arm] = true;
    }
    if (!exploring) return majority(view, eligible);
    std::vector<std::uint32_t> chosen;
    for (const std::uint32_t arm : eligible)
        if (tried[arm]) chosen.push_back(arm);
    return chosen.empty() ? all : chosen;
}

std::vector<std::uint32_t> BanditForest::majority(const BitView& view, Arms eligible) const {
    std::vector<std::uint32_t> votes(eligible.size() + 1);  // the last: blank votes
    for (const BanditTree& tree : trees_) {
        const BanditStump& leaf = tree.leaf(view);
        ++votes[vote(leaf, view[leaf.variable()], eligible)];
    }
    votes.pop_back();
    const std::uint32_t most = *std::max_element(votes.begin(), votes.end());
    std::vector<std::uint32_t> chosen;
    for (std::size_t i = 0; i < eligible.size(); ++i)
        if (votes[i] == most) chosen.push_back(eligible[i]);
    return chosen;
}

std::uint32_t BanditForest::decide(Context context, Arms eligible, Rng& rng) const {
    const std::vector<std::uint32_t> chosen = choices(context, eligible);
    return chosen[rng.integer(chosen.size())];
}

std::vector<double> BanditForest::propensities(Context context, Arms eligible) const {
    const std::vector<std::uint32_t> chosen = choices(context, eligible);
    std::vector<double> result(eligible.size(), 0.0);
    auto next = chosen.begin();  // choices keep the order of the eligible arms
    for (std::size_t i = 0; i < eligible.size() && next != chosen.end(); ++i)
        if (eligible[i] == *next) {
            result[i] = 1 / static_cast<double>(chosen.size());
            ++next;
        }
    return result;
}

Tally BanditForest::buffered(std::uint32_t arm) const {
    Tally tally;
    for (const Observation& seen : buffer_)
        if (seen.arm == arm) tally.add(seen.reward);
    return tally;
}

std::vector<double> BanditForest::expected_rewards(Context context) const {
    check_context(context);
    const BitView view(bits(), context);
    std::vector<double> means(n_arms(), 0.0);
    if (warming_up())
        for (std::uint32_t arm = 0; arm < n_arms(); ++arm)
            means[arm] = mean_or_unknown(buffered(arm));
    for (const BanditTree& tree : trees_) {
        const auto path = tree.path(view);
        for (std::uint32_t arm = 0; arm < n_arms(); ++arm)
            means[arm] += mean_or_unknown(smallest_tally(path, view, arm)) / settings_.n_trees;
    }
    return means;
}

std::vector<BanditForest::View> BanditForest::explain(Context context, std::uint32_t arm) const {
    check_context(context);
    if (arm >= n_arms()) throw std::out_of_range("no arm " + std::to_string(arm));
    if (warming_up()) return std::vector<View>(settings_.n_trees, {{}, false, buffered(arm)});
    const BitView view(bits(), context);
    std::vector<View> views;
    for (const BanditTree& tree : trees_) {
        const auto path = tree.path(view);
        std::vector<Step> steps;
        for (const BanditStump* stump : path)
            if (stump->splits())
                steps.push_back({bits()[stump->variable()], view[stump->variable()]});
        const bool finished = path.back()->settled(view[path.back()->variable()], active_);
        views.push_back({std::move(steps), finished, smallest_tally(path, view, arm)});
    }
    return views;
}

void BanditForest::write_observations(StateWriter& out) const {
    out.whole(buffer_.size());
    for (const Observation& seen : buffer_) {
        out.whole(seen.arm);
        out.number(seen.reward);
        for (const double value : seen.context) out.number(value);
    }
}

std::vector<double> BanditForest::dump() const {
    StateWriter out;
    out.whole(kFormat);
    out.whole(settings_.n_trees);
    out.whole(settings_.depth);
    out.number(settings_.delta);
    out.number(settings_.epsilon_low);
    out.number(settings_.epsilon_high);
    out.number(settings_.radius);
    out.word(settings_.seed);
    out.whole(kinds_.size());
    for (const Kind kind : kinds_) out.flag(kind == Kind::category);
    out.whole(active_.size());
    for (const std::uint8_t active : active_) out.flag(active != 0);
    out.flag(warming_up());
    if (warming_up()) {
        write_observations(out);
    } else {
        binarizer_.write(out);
        for (const BanditTree& tree : trees_) tree.write(out);
    }
    return out.take();
}

void BanditForest::read_settings(StateReader& in) const {
    constexpr std::uint32_t kLargest32 = std::numeric_limits<std::uint32_t>::max();
    StateReader::require(in.whole(kLargest32) == kFormat);
    ForestSettings settings = settings_;  // how long it warms up is the same for all
    settings.n_trees = static_cast<std::uint32_t>(in.whole(kLargest32));
    settings.depth = static_cast<std::uint32_t>(in.whole(kLargest32));
    settings.delta = in.number();
    settings.epsilon_low = in.number();
    settings.epsilon_high = in.number();
    settings.radius = in.number();
    settings.seed = in.word();
    if (settings != settings_)
        throw std::invalid_argument("the state is of a bandit forest with other settings");
}

void BanditForest::read_observations(StateReader& in) {
    buffer_.resize(in.length());
    StateReader::require(buffer_.size() < settings_.warm_up);
    for (Observation& seen : buffer_) {
        seen.arm = in.index(n_arms());
        seen.reward = in.between(0, 1);
        in.expect(kinds_.size());
        seen.context.resize(kinds_.size());
        for (double& value : seen.context) {
            value = in.number();
            StateReader::require(!std::isinf(value));
        }
    }
}

void BanditForest::restore(std::span<const double> state) {
    StateReader in(state);
    read_settings(in);
    BanditForest read(settings_);
    read.kinds_.resize(in.length());
    for (Kind& kind : read.kinds_) kind = in.flag() ? Kind::category : Kind::number;
    read.active_.resize(in.length());
    for (std::uint8_t& active : read.active_) active = in.flag();
    if (in.flag()) {
        read.read_observations(in);
    } else {
        read.binarizer_ = Binarizer::read(in, read.kinds_);
        for (std::uint32_t number = 0; number < settings_.n_trees; ++number)
            read.trees_.push_back(
                BanditTree::read(in, settings_, number, read.bits().size(), read.active_));
    }
    in.finish();
    *this = std::move(read);
}

}  // namespace banditree
