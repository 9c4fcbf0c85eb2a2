#include "banditree/ensemble/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace banditree {

void Ensemble::add_arm() {
    beliefs_.add_arm();
    came_at_.push_back(rows_.n_learned());
}

void Ensemble::set_kinds(const std::vector<Kind>& kinds) {
    rows_.set_kinds(kinds);
    beliefs_.set_kinds(kinds);
}

void Ensemble::learn(std::uint32_t arm, std::span<const double> context, double reward) {
    take_in(arm, context.data(), reward);
    Garden garden{*this};
    if (settings_.beside > 0) gardener_.tend(garden, 0);
}

void Ensemble::take_in(std::uint32_t arm, const double* context, double reward) {
    beliefs_.learn(arm, context, reward, rows_.n_learned());
    rows_.append(arm, context, reward);
    if (due_ || !is_due()) return;
    if (fits_beside())
        due_ = std::make_shared<const Due>(beliefs_.to_fit(), rows_.n_learned());
    else
        fit();
}

void Ensemble::learn_many(ArmIndices arms, const Matrix& contexts,
                          std::span<const double> rewards) {
    for (std::size_t i = 0; i < rewards.size(); ++i)
        learn(static_cast<std::uint32_t>(arms[i]),
              {contexts.data + i * contexts.columns, contexts.columns}, rewards[i]);
}

void Ensemble::keep_last(std::span<const std::int64_t> counts) {
    gardener_.abandon();
    due_.reset();
    rows_.keep_last(counts);
    beliefs_ = beliefs_.without_members(rows_);
    fitted_at_ = rows_.n_learned();
    if (rows_.size() > 0 && beliefs_.have_unit()) fit();
}

// As soon as rewards differ, and each time rows have grown by a share; with a full window, each
// time such a share of it is new.
bool Ensemble::is_due() const {
    const Members& members = beliefs_.members();
    if (!members.are_fitted()) return beliefs_.have_unit();
    auto fitted = static_cast<double>(fitted_at_);
    if (settings_.window > 0)
        fitted = std::min(fitted, static_cast<double>(settings_.window * members.n_arms()));
    const auto since = static_cast<double>(rows_.n_learned() - fitted_at_);
    return since >= fitted * settings_.refresh + 1;
}

void Ensemble::fit() {
    fitted_at_ = rows_.n_learned();
    const auto n_arms = static_cast<std::uint32_t>(this->n_arms());
    std::size_t share = std::max<std::size_t>(rows_.fair_share(settings_.most_rows, n_arms), 1);
    if (settings_.window > 0) share = std::min(share, settings_.window);
    const std::vector<std::int64_t> most(n_arms, static_cast<std::int64_t>(share));
    rows_.keep_last(most);
    const Rng rng = Rng(settings_.seed).child(fitted_at_);
    beliefs_.adopt(Members::fit(rows_, beliefs_.starts(), beliefs_.scale(), beliefs_.members(),
                                settings_.members, rng),
                   rows_);
}

// ---- Beside ----

bool Ensemble::tend() {
    Garden garden{*this};
    gardener_.tend_all(garden);
    gardener_.check();
    return gardener_.is_busy();
}

std::unique_ptr<Ensemble> Ensemble::cutting() const {
    auto copy = std::make_unique<Ensemble>(settings_);
    copy->rows_ = rows_;
    copy->due_ = due_;
    copy->came_at_ = came_at_;
    return copy;
}

void Ensemble::catch_up() {
    Ensemble fitted(settings_);
    fitted.rows_ = rows_.first(due_->at);
    fitted.beliefs_ = due_->beliefs;
    fitted.fit();
    fitted.follow(*this);
    become(std::move(fitted));
}

// Learns the rows that another one has learned besides, when it did: arms may have come meanwhile.
void Ensemble::follow(const Ensemble& ahead) {
    const SharedRows& all = ahead.rows_;
    set_kinds(all.kinds());
    const auto add_arms = [&](std::uint64_t until) {
        while (n_arms() < ahead.came_at_.size() && ahead.came_at_[n_arms()] <= until)
            beliefs_.add_arm();
    };
    for (std::size_t row = all.first_since(rows_.n_learned()); row < all.size(); ++row) {
        add_arms(rows_.n_learned());
        take_in(all.arms()[row], all.context(row).data(), all.rewards()[row]);
    }
    add_arms(rows_.n_learned());
}

void Ensemble::plant(Ensemble&& fitted) {
    fitted.follow(*this);
    become(std::move(fitted));
}

void Ensemble::become(Ensemble&& other) {
    rows_ = std::move(other.rows_);
    beliefs_ = std::move(other.beliefs_);
    fitted_at_ = other.fitted_at_;
    due_ = std::move(other.due_);
}

// ---- State ----

void Ensemble::write(ByteWriter& out) const {
    beliefs_.write(out);
    rows_.write(out);
    out.put(fitted_at_);
    out.put<std::uint8_t>(due_ != nullptr);
    if (due_) write_due(out);
}

void Ensemble::write_due(ByteWriter& out) const {
    due_->beliefs.write(out);
    out.put(due_->at);
    out.array(came_at_);
}

void Ensemble::read(ByteReader& in) {
    EnsembleBeliefs beliefs = EnsembleBeliefs::read(in);
    SharedRows rows = SharedRows::read(in, static_cast<std::uint32_t>(beliefs.n_arms()));
    const auto fitted_at = in.between<std::uint64_t>(0, rows.n_learned());
    std::vector<std::uint64_t> came_at(beliefs.n_arms(), 0);
    std::shared_ptr<const Due> due;
    if (in.flag()) due = read_due(in, rows, beliefs.n_arms(), came_at);
    in.finish();
    ByteReader::require(beliefs.is_binary() == settings_.binary);
    ByteReader::require(beliefs.kinds() == rows.kinds());
    const bool could_fit = rows.size() > 0 && beliefs.have_unit();
    ByteReader::require(beliefs.members().are_fitted() == could_fit || (could_fit && due));
    gardener_.abandon();
    beliefs_ = std::move(beliefs);
    rows_ = std::move(rows);
    fitted_at_ = fitted_at;
    due_ = std::move(due);
    came_at_ = std::move(came_at);
}

// Rows since then must be all that came, each of an arm that was there.
std::shared_ptr<const Ensemble::Due> Ensemble::read_due(ByteReader& in, const SharedRows& rows,
                                                        std::size_t n_arms,
                                                        std::vector<std::uint64_t>& came_at) const {
    Due due{EnsembleBeliefs::read(in), in.between<std::uint64_t>(1, rows.n_learned())};
    came_at = in.array<std::uint64_t>();
    ByteReader::require(settings_.beside > 0 && due.beliefs.is_binary() == settings_.binary);
    ByteReader::require(due.beliefs.kinds().size() <= rows.kinds().size());
    ByteReader::require(came_at.size() == n_arms && due.beliefs.n_arms() <= n_arms);
    ByteReader::require(std::is_sorted(came_at.begin(), came_at.end()));
    const std::size_t first = rows.first_since(due.at);
    ByteReader::require(first > 0 && rows.size() - first == rows.n_learned() - due.at);
    for (std::size_t row = 0; row < rows.size(); ++row)
        ByteReader::require(row < first ? rows.arms()[row] < due.beliefs.n_arms()
                                        : came_at[rows.arms()[row]] <= rows.numbers()[row]);
    return std::make_shared<const Due>(std::move(due));
}

}  // namespace banditree
