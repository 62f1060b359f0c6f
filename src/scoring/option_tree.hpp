/// \file
/// Options of several tokens, as a tree of their ids.
#pragma once

#include <llamavisor/generate_options.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace llamavisor::scoring {

/// Options that begin alike share their first edges. Edges are numbered depth first, children in
/// the order of their first option.
class OptionTree {
 public:
  explicit OptionTree(std::span<const std::vector<TokenId>> options);

  struct Edge {
    std::vector<TokenId> path{};  ///< ids before it
    TokenId next = 0;
    std::size_t parent = none;  ///< the edge before it
  };

  const std::vector<Edge>& edges() const noexcept { return edges_; }

  /// The sums along each option's path, from one log-probability for each edge.
  std::vector<double> sums(std::span<const double> logprobs) const;

  static constexpr auto none = static_cast<std::size_t>(-1);

 private:
  void grow(std::span<const std::vector<TokenId>> options, const std::vector<std::size_t>& members,
            std::size_t depth, std::size_t parent);

  std::vector<Edge> edges_;
  std::vector<std::size_t> last_;  ///< each option's last edge
};

}  // namespace llamavisor::scoring
