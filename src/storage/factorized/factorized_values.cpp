#include "storage/factorized/factorized_values.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "storage/factorized/counting_sort.hpp"

namespace gpulog::storage {

using backend::array;
using backend::memory_resource;

std::uint64_t factorized_values::bytes() const {
  std::uint64_t sum = graph->bytes() + first.bytes() + rows_in_front.bytes();
  for (const auto& column : values) sum += column.bytes();
  return sum;
}

const array<word>& factorized_values::column(std::uint32_t column) const {
  const auto value = std::find(value_columns.begin(), value_columns.end(), column);
  if (value != value_columns.end()) return values[static_cast<std::size_t>(value - value_columns.begin())];
  const auto source = std::find(source_columns.begin(), source_columns.end(), column);
  return graph->sources[static_cast<std::size_t>(source - source_columns.begin())];
}

factorized_values place_values(const backend::piece_runner& workers, memory_resource& resource,
                               std::shared_ptr<const factorized_graph> graph, const std::uint32_t* component,
                               const std::vector<const word*>& columns, std::uint64_t value_count) {
  factorized_values made;
  made.first = counting_sort(
      workers, resource, static_cast<std::uint32_t>(value_count), graph->components,
      [&](std::uint32_t value) { return component[value]; },
      [&](std::uint64_t all) {
        for (std::size_t c = 0; c < columns.size(); ++c)
          made.values.emplace_back(resource, all, backend::fresh_memory::anything);
      },
      [&](std::uint32_t value, std::uint32_t place) {
        for (std::size_t c = 0; c < columns.size(); ++c) made.values[c][place] = columns[c][value];
      });
  made.graph = std::move(graph);
  return made;
}

void strip_reader::make(std::uint32_t strip) {
  rows_.make(strip);
  first_source_.assign(rows_.rows() + 2ULL, 0);
  std::uint64_t* const begin = first_source_.data() + 1;
  for (std::uint32_t vertex = rows_.begin(); vertex < graph_->vertices; ++vertex)
    begin[rows_.row_of(vertex) + 1ULL] += graph_->sources_at(vertex);
  begin[1] = 0;  // the empty row has no sources
  for (std::uint32_t row = 0; row < rows_.rows(); ++row) begin[row + 1ULL] += begin[row];
}

bool strip_reader::has_one_value_each(const factorized_values& of) const {
  for (std::uint32_t component = rows_.begin(); component < rows_.end(); ++component) {
    if (of.first[component + 1ULL] - of.first[component] != 1) return false;
  }
  return true;
}

template <class Action>
void strip_reader::for_each_range(const factorized_values& of, std::uint32_t row, const Action& action) const {
  const std::uint64_t* const words = rows_.words(row);
  for (std::uint32_t w = 0; w < graph_->strip_words; ++w) {
    for (std::uint64_t bits = words[w]; bits != 0; bits &= bits - 1) {
      const std::uint64_t component = rows_.begin() + w * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      action(of.first[component], of.first[component + 1]);
    }
  }
}

std::uint64_t strip_reader::values_of(const factorized_values& of, std::uint32_t row) const {
  std::uint64_t sum = 0;
  for_each_range(of, row, [&sum](std::uint32_t first, std::uint32_t behind) { sum += behind - first; });
  return sum;
}

std::uint64_t strip_reader::count(const factorized_values& of) const {
  const bool is_plain = has_one_value_each(of);
  const std::uint64_t* const begin = first_source_.data() + 1;
  std::uint64_t sum = 0;
  for (std::uint32_t row = 1; row < rows_.rows(); ++row) {
    const std::uint64_t sources = begin[row + 1ULL] - begin[row];
    if (sources != 0) sum += sources * (is_plain ? rows_.size(row) : values_of(of, row));
  }
  return sum;
}

void strip_reader::add_counts(const factorized_values& of, std::uint64_t* counts) const {
  std::vector<std::uint64_t> by_row(rows_.rows());
  for (std::uint32_t row = 1; row < rows_.rows(); ++row) by_row[row] = values_of(of, row);
  for (std::uint32_t vertex = rows_.begin(); vertex < graph_->vertices; ++vertex)
    counts[vertex] += by_row[rows_.row_of(vertex)];
}

void strip_reader::prepare(const factorized_values& of) {
  std::uint64_t* const begin = first_source_.data() + 1;
  const bool is_plain = has_one_value_each(of);
  first_pair_.assign(rows_.rows() + 1ULL, 0);
  for (std::uint32_t row = 1; row < rows_.rows(); ++row) {
    const std::uint64_t sources = begin[row + 1ULL] - begin[row];
    first_pair_[row + 1ULL] = first_pair_[row] + sources * (is_plain ? rows_.size(row) : values_of(of, row));
  }
  sources_.resize(begin[rows_.rows()]);
  // The entry at [row + 1] moves to the end of the row, which is the start of the next row.
  for (std::uint32_t vertex = rows_.begin(); vertex < graph_->vertices; ++vertex) {
    const std::uint32_t row = rows_.row_of(vertex);
    if (row == 0) continue;
    for (std::uint32_t place = graph_->source_first[vertex]; place < graph_->source_first[vertex + 1ULL]; ++place)
      sources_[begin[row]++] = place;
  }
}

void strip_reader::write(const factorized_values& of, std::uint64_t first, std::uint64_t n,
                         word* const* columns) const {
  strip_cursor(*this, of).write(first, n, columns);
}

void strip_cursor::list_values(std::uint32_t row) {
  if (row_ == row) return;
  places_.clear();
  strip_->for_each_range(*of_, row, [this](std::uint32_t place, std::uint32_t behind) {
    for (; place < behind; ++place) places_.push_back(place);
  });
  row_ = row;
}

void strip_cursor::write(std::uint64_t first, std::uint64_t n, word* const* columns) {
  const factorized_graph& graph = *of_->graph;
  const std::vector<std::uint64_t>& first_pair = strip_->first_pair_;
  const auto found = std::upper_bound(first_pair.begin(), first_pair.end(), first) - 1;
  auto row = static_cast<std::uint32_t>(found - first_pair.begin());
  for (std::uint64_t done = 0; done < n; ++row) {
    const std::uint64_t offset = first + done - first_pair[row];
    const std::uint64_t here = std::min(n - done, first_pair[row + 1ULL] - first_pair[row] - offset);
    if (here == 0) continue;
    list_values(row);
    // Calls action(source, place of its first value, values) for each source of the piece.
    const auto for_each_source = [&](const auto& action) {
      std::uint64_t source = offset / places_.size();
      std::uint64_t at = offset % places_.size();
      for (std::uint64_t left = here; left != 0; ++source, at = 0) {
        const std::uint64_t count = std::min(left, places_.size() - at);
        action(strip_->sources_[strip_->first_source_[row] + source], at, count);
        left -= count;
      }
    };
    for (std::size_t c = 0; c < of_->values.size(); ++c) {
      if (columns[of_->value_columns[c]] == nullptr) continue;
      const word* const values = of_->values[c].data();
      word* out = columns[of_->value_columns[c]] + done;
      for_each_source([&](std::uint32_t, std::uint64_t at, std::uint64_t count) {
        for (std::uint64_t i = at; i < at + count; ++i) *out++ = values[places_[i]];
      });
    }
    for (std::size_t c = 0; c < graph.sources.size(); ++c) {
      if (columns[of_->source_columns[c]] == nullptr) continue;
      word* out = columns[of_->source_columns[c]] + done;
      for_each_source([&](std::uint32_t source, std::uint64_t, std::uint64_t count) {
        out = std::fill_n(out, count, graph.sources[c][source]);
      });
    }
    done += here;
  }
}

}  // namespace gpulog::storage
