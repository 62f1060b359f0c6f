#include "scoring/option_tree.hpp"

#include <algorithm>
#include <numeric>

namespace llamavisor::scoring {

OptionTree::OptionTree(std::span<const std::vector<TokenId>> options)
    : last_(options.size(), none) {
  std::vector<std::size_t> all(options.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  grow(options, all, 0, none);
}

void OptionTree::grow(std::span<const std::vector<TokenId>> options,
                      const std::vector<std::size_t>& members, std::size_t depth,
                      std::size_t parent) {
  std::vector<TokenId> seen;
  for (const auto member : members) {
    if (options[member].size() <= depth) continue;
    const auto next = options[member][depth];
    if (std::find(seen.begin(), seen.end(), next) != seen.end()) continue;
    seen.push_back(next);
    std::vector<std::size_t> below;
    for (const auto other : members) {
      if (options[other].size() > depth && options[other][depth] == next) below.push_back(other);
    }
    const auto edge = edges_.size();
    edges_.push_back({.path = {options[member].begin(),
                               options[member].begin() + static_cast<std::ptrdiff_t>(depth)},
                      .next = next,
                      .parent = parent});
    for (const auto one : below) {
      if (options[one].size() == depth + 1) last_[one] = edge;
    }
    grow(options, below, depth + 1, edge);
  }
}

std::vector<double> OptionTree::sums(std::span<const double> logprobs) const {
  std::vector<double> along(edges_.size());
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    const auto parent = edges_[edge].parent;  // comes before its children
    along[edge] = logprobs[edge] + (parent == none ? 0 : along[parent]);
  }
  std::vector<double> result;
  result.reserve(last_.size());
  for (const auto edge : last_)
    result.push_back(along[edge]);
  return result;
}

}  // namespace llamavisor::scoring
