#include "banditree/ensemble/members.hpp"

#include <algorithm>
#include <limits>

#include "banditree/ensemble/logistic.hpp"

namespace banditree {

Members::Coded::Coded(const Coder& coder, const double* context)
    : codes(coder.n_features()), scaled(coder.n_features()) {
    coder.encode(context, codes.data(), scaled.data());
}

Members Members::fit(const SharedRows& rows, const std::vector<double>& start,
                     const RewardScale& scale, const Members& before,
                     const MemberSettings& settings, Rng rng) {
    Members members(before.binary_);
    members.scale_ = scale;
    members.coder_ = Coder(rows.columns(), rows.kinds());
    const auto n_arms = static_cast<std::uint32_t>(start.size() - 1);
    CodedRows coded = rows.coded(members.coder_, n_arms);
    for (float& reward : coded.rewards) reward = static_cast<float>(scale.to(reward));
    std::vector<float> means;
    for (const double mean : start) means.push_back(static_cast<float>(scale.to(mean)));
    std::vector<float> scores = means;
    if (members.binary_)
        std::transform(means.begin(), means.end(), scores.begin(),
                       [](float mean) { return static_cast<float>(logit(mean)); });
    members.boosting_ =
        Boosting::fit(coded, members.coder_, members.binary_, scores, settings.boosting, rng);
    members.forest_ = Forest::fit(coded, members.coder_, means, settings.forest, rng.next());
    members.linear_ = before.linear_.adapted(before.coder_, members.coder_, n_arms);
    members.linear_.replay(coded, settings.linear_epochs, rng);
    return members;
}

Members Members::to_fit() const {
    Members needed(binary_);
    needed.scale_ = scale_;
    needed.coder_ = coder_;
    needed.linear_ = linear_;
    return needed;
}

Opinions Members::opinions(double boosting, double forest, double linear) const {
    if (!binary_) return {boosting, forest, linear};
    return {clipped_logit(boosting), logit(forest), clipped_logit(linear)};
}

Outlook Members::outlook(const double* context, std::size_t n_arms) const {
    const Coded coded(coder_, context);
    std::vector<float> boosting(n_arms), forest(n_arms), linear(n_arms);
    Outlook outlook{std::vector<Opinions>(n_arms), std::vector<float>(n_arms)};
    boosting_.predict(coded.codes.data(), boosting, outlook.support);
    forest_.predict(coded.codes.data(), forest);
    linear_.predict(coded.codes.data(), coded.scaled.data(), linear);
    for (std::size_t arm = 0; arm < n_arms; ++arm)
        outlook.opinions[arm] = opinions(boosting[arm], forest[arm], linear[arm]);
    return outlook;
}

std::array<Attribution, kMembers> Members::attributions(std::uint32_t arm,
                                                        const double* context) const {
    const Coded coded(coder_, context);
    const std::uint8_t* codes = coded.codes.data();
    const std::size_t m = coder_.n_features();
    const Attribution boosting = boosting_.attribution(codes, arm, m);
    const Attribution forest = forest_.attribution(codes, arm, m);
    const Attribution linear = linear_.attribution(coder_, codes, coded.scaled.data(), arm);
    if (!binary_) return {boosting, forest, linear};
    return {boosting.of(clipped_logit), forest.of(logit), linear.of(clipped_logit)};
}

Members::Before Members::learn(std::uint32_t arm, const double* context, double reward,
                               std::uint64_t number) {
    const Coded coded(coder_, context);
    const std::uint8_t* codes = coded.codes.data();
    const Before before{opinions(boosting_.score(codes, arm), forest_.mean(codes, arm),
                                 linear_.score(codes, coded.scaled.data(), arm)),
                        boosting_.support(codes, arm)};
    const auto seen = static_cast<float>(scale_.to(reward));
    forest_.learn(codes, arm, seen, number);
    linear_.learn(codes, coded.scaled.data(), arm, seen);
    return before;
}

void Members::write(ByteWriter& out) const {
    out.put(scale_.zero);
    out.put(scale_.unit);
    coder_.write(out);
    boosting_.write(out);
    forest_.write(out);
    linear_.write(out);
}

Members Members::read(ByteReader& in, bool binary) {
    Members members(binary);
    members.scale_.zero = in.between(-kLargest, kLargest);
    members.scale_.unit = in.between(std::numeric_limits<double>::min(), kLargest);
    members.coder_ = Coder::read(in);
    members.boosting_ = Boosting::read(in, members.coder_.n_features());
    members.forest_ = Forest::read(in, members.coder_.n_features());
    members.linear_ = Linear::read(in, binary, members.coder_);
    ByteReader::require(members.boosting_.is_fitted() == members.forest_.is_fitted());
    if (members.are_fitted())
        ByteReader::require(members.boosting_.n_arms() == members.forest_.n_arms());
    return members;
}

}  // namespace banditree
