#include "exec/cpu/factorized_stream.hpp"

#include <algorithm>

namespace gpulog::exec {

factorized_stream::factorized_stream(backend::memory_resource& resource, const storage::factorized_values& values)
    : resource_(&resource), values_(&values), strips_(values.graph->strips()) {
  for (std::uint32_t strip = 0; strip < strips_.size(); ++strip)
    strips_[strip].left = values.rows_in_front[strip + 1ULL] - values.rows_in_front[strip];
}

void factorized_stream::read(std::uint64_t first, std::uint64_t n, word* const* columns) {
  const std::uint64_t* const begins = values_->rows_in_front.data();
  const std::uint64_t* const found = std::upper_bound(begins, begins + strips_.size() + 1, first) - 1;
  std::vector<word*> out(values_->source_columns.size() + values_->value_columns.size());
  auto strip = static_cast<std::uint32_t>(found - begins);
  for (std::uint64_t done = 0; done < n; ++strip) {
    const std::uint64_t offset = first + done - begins[strip];
    const std::uint64_t here = std::min(n - done, begins[strip + 1ULL] - begins[strip] - offset);
    if (here == 0) continue;
    for (std::size_t c = 0; c < out.size(); ++c) out[c] = columns[c] + done;
    reader_of(strip)->write(*values_, offset, here, out.data());
    finish(strip, here);
    done += here;
  }
}

std::shared_ptr<storage::strip_reader> factorized_stream::reader_of(std::uint32_t strip) {
  open_strip& one = strips_[strip];
  const std::lock_guard<std::mutex> alone(one.making);
  if (one.reader == nullptr) {
    auto made = std::make_shared<storage::strip_reader>(*resource_, *values_->graph);
    made->make(strip);
    made->prepare(*values_);
    one.reader = std::move(made);
  }
  return one.reader;
}

void factorized_stream::finish(std::uint32_t strip, std::uint64_t rows) {
  open_strip& one = strips_[strip];
  const std::lock_guard<std::mutex> alone(one.making);
  one.left -= std::min(one.left, rows);
  if (one.left == 0) one.reader.reset();
}

}  // namespace gpulog::exec
