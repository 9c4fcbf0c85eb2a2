"""A policy of one's own: epsilon-greedy over a tree for each arm."""

import banditree as bt


class EpsilonGreedy(bt.CustomPolicy):
    """Offers the arm of the highest mean, and any other now and then.

    Parameters
    ----------
    epsilon
        How often an arm is drawn whatever it is worth.
    """

    def __init__(self, arms, *, epsilon=0.1, reward="binary", categorical=(), seed=None):
        if not 0 <= epsilon <= 1:
            raise bt.InvalidParameterError(f"epsilon must be between 0 and 1, got {epsilon}")
        self.epsilon = epsilon
        super().__init__(arms, reward=reward, categorical=categorical, seed=seed)

    def start(self):
        """Begin without observations and without trees."""
        self.contexts, self.rewards, self.trees = {}, {}, {}

    def observe(self, context, arm, reward):
        """Keep the observation; grow the arm's tree when there are a quarter more of them."""
        contexts = self.contexts.setdefault(arm, [])
        rewards = self.rewards.setdefault(arm, [])
        contexts.append(context)
        rewards.append(reward)
        if arm not in self.trees or len(rewards) >= 1.25 * self.trees[arm][1]:
            tree = bt.Tree(min_leaf=5, max_depth=6, max_bins=64, categorical=self.categorical)
            self.trees[arm] = tree.fit(contexts, rewards), len(rewards)

    def estimate(self, context, arm):
        """Return what the arm's tree predicts; 0 for an arm never tried."""
        return float(self.trees[arm][0].predict([context])[0]) if arm in self.trees else 0.0

    def chances(self, context, arms):
        """Return epsilon shared among all arms, and the rest among the best."""
        means = [self.estimate(context, arm) for arm in arms]
        best = [mean == max(means) for mean in means]
        return [
            self.epsilon / len(arms) + (1 - self.epsilon) * is_best / sum(best) for is_best in best
        ]
