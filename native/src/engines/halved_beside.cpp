// Growing an arm's replicas beside: on a copy of its rows, while they are learned and decided on.
#include <algorithm>
#include <utility>

#include "banditree/data/schedule.hpp"
#include "banditree/engines/halved_arm.hpp"

namespace banditree {

bool HalvedArm::is_due() const {
    if (!grows_beside()) return false;
    const std::size_t n = rows_.n_rows();
    if (window().surplus(n) > 0) return true;
    if (!rows_.exact() && rows_.renewal_is_due()) return true;
    if (settings_.window > 0 && n > settings_.window) return seen_ < settings_.window;
    if (next_point(price_.chosen_at) <= n) return true;
    return std::any_of(replicas_.begin(), replicas_.end(), [this](const Replica& replica) {
        return next_growth(replica.grown_at, settings_.refresh) <= replica.n_rows;
    });
}

std::unique_ptr<HalvedArm> HalvedArm::cutting() const {
    auto copy = std::make_unique<HalvedArm>(settings_, coins_, rows_.kinds());
    copy->rows_ = rows_;
    copy->members_ = members_;
    copy->price_ = price_;
    copy->first_ = first_;
    copy->forgotten_ = forgotten_;
    copy->counted_ = counted_;
    copy->offset_ = offset_;
    for (std::uint32_t i = 0; i < settings_.n_replicas; ++i)
        copy->replicas_[i].grown_at = replicas_[i].grown_at;
    return copy;
}

void HalvedArm::catch_up() {
    settings_.beside = 0;  // here, what is due is grown at once
    const RowStore all = rows_;
    const std::size_t n = all.n_rows(), surplus = window().surplus(n);
    if (surplus > 0) {
        rows_ = all.first(settings_.window + surplus);
        keep_last(settings_.window);
        const ArmRows rest = last_rows(all, n - settings_.window - surplus);
        append_rows(rows_, rest.matrix(), rest.rewards);
        count_rows();
        seen_ = rows_.n_rows();
    } else {
        catch_up_with_plan(all, plan(0, settings_.window > 0 ? std::min(n, settings_.window) : n));
        seen_ = n;
    }
}

void HalvedArm::catch_up_with_plan(const RowStore& all, const Plan& plan) {
    std::vector<std::size_t> points = plan.choices;
    points.insert(points.end(), plan.growths.begin(), plan.growths.end());
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    forgotten_ = counted_ = 0;  // nothing is counted before all has been grown
    for (const std::size_t n : points) {
        if (n == 0) continue;
        rows_ = all.first(n);
        follow(plan);
    }
    rows_ = all;
    rows_.renew();
    forgotten_ = window().excess(rows_.n_rows());
    counted_ = rows_.n_rows();
    offset_ = rows_.data().offset;
    for (std::uint32_t i = 0; i < settings_.n_replicas; ++i)
        if (plan.growths[i] > 0) count(i, forgotten_, counted_);
}

void HalvedArm::plant(HalvedArm&& grown) {
    grown.rows_.set_kinds(rows_.kinds());
    if (grown.first_ != first_) {
        const ArmRows since = last_rows(rows_, n_since(grown));
        append_rows(grown.rows_, since.matrix(), since.rewards);
        grown.settings_ = settings_;
        *this = std::move(grown);
        return count_rows();
    }
    rows_.adopt_bins(std::move(grown.rows_));
    price_ = grown.price_;
    seen_ = grown.seen_;
    for (std::uint32_t i = 0; i < settings_.n_replicas; ++i) {
        if (!grown.replicas_[i].tree.is_planted()) continue;
        replicas_[i].grown_at = grown.replicas_[i].grown_at;
        replicas_[i].tree = std::move(grown.replicas_[i].tree);
        replicas_[i].tree.lower_offset(grown.offset_ - offset_);
        uncount(i, grown.forgotten_, std::min(forgotten_, grown.counted_));
        count(i, std::max(forgotten_, grown.counted_), counted_);
    }
}

}  // namespace banditree
