#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/piecewise_stream.hpp"
#include "exec/ranks/division.hpp"
#include "support/long_vector.hpp"

namespace gpulog::exec {

/// Streams the rows of a partitioned relation at rank 0: the rows of this rank, then the rows of the other ranks,
/// message by message.
class part_stream final : public piecewise_stream {
 public:
  /// @param own writes rows [first, first + n) of this rank to one array per column; thread-safe
  /// @param own_rows number of rows of this rank
  part_stream(stratum_divider& divider, relation_id relation, side where, std::size_t arity, std::unique_ptr<piece> own,
              std::uint64_t own_rows)
      : part_stream(divider, relation, where, arity, std::move(own), own_rows, divider.messages_of(relation, where)) {}

 private:
  part_stream(stratum_divider& divider, relation_id relation, side where, std::size_t arity, std::unique_ptr<piece> own,
              std::uint64_t own_rows, std::vector<rows_of_rank> messages)
      : piecewise_stream(begins_of(own_rows, messages), arity),
        divider_(&divider),
        relation_(relation),
        where_(where),
        own_(std::move(own)),
        messages_(std::move(messages)) {}

  /// The rows of a message.
  class received_piece final : public piece {
   public:
    received_piece(std::string bytes, std::uint64_t rows, std::size_t arity)
        : bytes_(std::move(bytes)), rows_(rows), arity_(arity) {}
    void write(std::uint64_t first, std::uint64_t n, word* const* columns) const override {
      for (std::size_t c = 0; c < arity_; ++c)
        bytes_.copy(reinterpret_cast<char*>(columns[c]), memory_size(n * sizeof(word)),
                    memory_size((c * rows_ + first) * sizeof(word)));
    }

   private:
    std::string bytes_;
    std::uint64_t rows_;
    std::size_t arity_;
  };

  static std::vector<std::uint64_t> begins_of(std::uint64_t own_rows, const std::vector<rows_of_rank>& messages) {
    std::vector<std::uint64_t> begins = {0, own_rows};
    for (const rows_of_rank& one : messages) begins.push_back(begins.back() + one.rows);
    return begins;
  }
  [[nodiscard]] std::shared_ptr<const piece> make(std::size_t number) override {
    if (number == 0) return own_;
    const rows_of_rank& asked = messages_[number - 1];
    return std::make_shared<received_piece>(divider_->receive_rows(relation_, where_, asked), asked.rows, arity());
  }

  stratum_divider* divider_;
  relation_id relation_;
  side where_;
  std::shared_ptr<const piece> own_;
  std::vector<rows_of_rank> messages_;
};

}  // namespace gpulog::exec
