#include "storage/relation/row_sample.hpp"

#include <algorithm>
#include <array>

namespace gpulog::storage {

namespace {

/// Appends the sampled rows. All rows are visited, which dominates the time of a sample: therefore common arities have
/// specialized loops.
template <std::uint32_t Arity>
void take_rows(const row_sample& chosen, const std::vector<const word*>& columns, std::uint64_t rows,
               sampled_rows& sampled) {
  std::array<const word*, Arity> own;
  std::copy_n(columns.begin(), Arity, own.begin());
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (!chosen.takes_some<Arity>(own, row)) continue;
    for (std::uint32_t column = 0; column < Arity; ++column) sampled[column].push_back(own[column][row]);
  }
}

void take_rows_of_any(const row_sample& chosen, const std::vector<const word*>& columns, std::uint64_t rows,
                      sampled_rows& sampled) {
  const auto arity = static_cast<std::uint32_t>(columns.size());
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (!chosen.takes(columns.data(), arity, row)) continue;
    for (std::uint32_t column = 0; column < arity; ++column) sampled[column].push_back(columns[column][row]);
  }
}

}  // namespace

sampled_rows sample_rows(const std::vector<const word*>& columns, std::uint64_t rows, std::uint64_t wanted) {
  sampled_rows sampled(columns.size());
  if (rows <= wanted) {
    for (std::size_t column = 0; column < columns.size(); ++column)
      sampled[column].assign(columns[column], columns[column] + rows);
    return sampled;
  }
  const row_sample chosen(rows, wanted);
  using take = void (*)(const row_sample&, const std::vector<const word*>&, std::uint64_t, sampled_rows&);
  constexpr std::array<take, 8> by_arity = {take_rows<1>, take_rows<2>, take_rows<3>, take_rows<4>,
                                            take_rows<5>, take_rows<6>, take_rows<7>, take_rows<8>};
  const std::size_t place = columns.size() - 1;
  (place < by_arity.size() ? by_arity[place] : take_rows_of_any)(chosen, columns, rows, sampled);
  return sampled;
}

}  // namespace gpulog::storage
