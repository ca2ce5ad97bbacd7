#include "io/formats/text/text_reader.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "io/formats/text/text_loading.hpp"
#include "io/task_runner.hpp"

namespace gpulog::io {
namespace {

std::optional<fact_source> open_facts(const read_request& request) {
  return fact_source::open_text_file(request, ".facts");
}

/// Returns the size of the file in bytes; UINT64_MAX if unknown.
std::uint64_t bytes_of(const read_request& request) {
  const auto file = text_file_of(request.relation, request.parameters, request.fact_directory);
  std::error_code unknown;
  return file ? std::filesystem::file_size(*file, unknown) : UINT64_MAX;
}

/// Returns the number of threads that have work; 1 for records, whose numbers depend on the order of parsing.
unsigned threads_for(std::span<const facts_file> files) {
  const read_request& first = files.front().request;
  if (!first.structured.structures.empty()) return 1;
  const std::uint64_t least = std::min<std::uint64_t>(least_piece_bytes, std::max<std::uint64_t>(first.piece_bytes, 1));
  const std::uint64_t threads = std::max(first.threads, 1U);
  std::uint64_t bytes = 0;
  for (const facts_file& file : files) bytes += std::min(bytes_of(file.request), threads * least);
  return static_cast<unsigned>(std::min(bytes / least + 1, threads));
}

bool is_out_of_memory(const std::exception_ptr& failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const backend::memory_exceeded&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

/// Reads files of text with several threads.
class text_files {
 public:
  using opener = std::optional<fact_source> (*)(const read_request& request);

  text_files(std::span<facts_file> files, opener open, storage::symbol_table& symbols)
      : files_(files), open_(open), symbols_(symbols), run_(threads_for(files)), columns_(files.size()) {
    if (run_.threads() > 1) order_.emplace(symbols);
  }

  void read() {
    if (!order_) return read_one_by_one();
    read(0, files_.size());
    const auto exceeded_memory = [](const facts_file& file) { return is_out_of_memory(file.failure); };
    if (files_.size() > 1 && std::any_of(files_.begin(), files_.end(), exceeded_memory)) read_one_by_one();
    const auto failed = [](const facts_file& file) { return file.failure != nullptr; };
    if (std::any_of(files_.begin(), files_.end(), failed)) return;
    try {
      order_->finish(std::ref(run_));
      if (order_->has_replaced()) replace_numbers();
    } catch (...) {
      files_.back().failure = std::current_exception();
    }
  }

 private:
  /// Limit of the text that waits for parsing, in bytes: 2 pieces per thread, or 1 piece with a single thread.
  [[nodiscard]] std::uint64_t most_waiting() const {
    const read_request& request = files_.front().request;
    if (run_.threads() == 1) return 1;
    constexpr std::uint64_t ahead_per_thread = 2;
    return std::min<std::uint64_t>(request.bytes_ahead, ahead_per_thread * run_.threads() * request.piece_bytes);
  }

  void read(std::size_t begin, std::size_t end) {
    text_load load{symbols_, order_ ? &*order_ : nullptr, run_.threads(), piece_queue(most_waiting()), {}};
    std::vector<std::unique_ptr<text_loading>> loadings;
    for (std::size_t number = begin; number < end; ++number) {
      facts_file& file = files_[number];
      loadings.push_back(std::make_unique<text_loading>(
          file, number, [&file, open = open_] { return open(file.request); }, load));
      load.queue.add_sequence(bytes_of(file.request), [loading = loadings.back().get()] { return loading->step(); });
    }
    load.queue.run(run_);
    for (std::size_t number = begin; number < end; ++number) columns_[number] = loadings[number - begin]->columns();
  }

  /// Reads one file after another: with a single thread, or after files beside each other exceeded the memory limit.
  void read_one_by_one() {
    for (facts_file& file : files_) {
      if (file.rows > 0) file.allocate(0);
      file.rows = 0;
      file.failure = nullptr;
    }
    for (std::size_t number = 0; number < files_.size(); ++number) {
      read(number, number + 1);
      if (files_[number].failure) return;
    }
  }

  void replace_numbers() {
    constexpr std::uint64_t block = std::uint64_t{1} << 16;
    std::vector<std::pair<word*, std::uint64_t>> blocks;
    for (std::size_t number = 0; number < files_.size(); ++number) {
      const facts_file& file = files_[number];
      for (std::size_t column = 0; column < columns_[number].size(); ++column) {
        if (file.request.kinds[column] != value_kind::symbol) continue;
        for (std::uint64_t row = 0; row < file.rows; row += block) {
          blocks.emplace_back(columns_[number][column] + row, std::min(block, file.rows - row));
        }
      }
    }
    run_(blocks.size(), [&](std::size_t number) { order_->resolve(blocks[number].first, blocks[number].second); });
  }

  std::span<facts_file> files_;
  opener open_;
  storage::symbol_table& symbols_;
  task_runner run_;
  std::optional<storage::ordered_interning> order_;
  std::vector<std::vector<word*>> columns_;  ///< by file
};

std::uint64_t read_one(const read_request& request, text_files::opener open, storage::symbol_table& symbols,
                       const row_allocator& allocate) {
  facts_file file{request, allocate};
  text_files({&file, 1}, open, symbols).read();
  if (file.failure) std::rethrow_exception(file.failure);
  return file.rows;
}

}  // namespace

std::uint64_t read_text_file(const read_request& request, storage::symbol_table& symbols,
                             const row_allocator& allocate) {
  return read_one(request, open_facts, symbols, allocate);
}

std::uint64_t read_text_from_standard_input(const read_request& request, storage::symbol_table& symbols,
                                            const row_allocator& allocate) {
  const auto open = [](const read_request&) { return std::optional(fact_source::standard_input()); };
  return read_one(request, open, symbols, allocate);
}

void read_text_files(std::span<facts_file> files, storage::symbol_table& symbols) {
  text_files(files, open_facts, symbols).read();
  for (facts_file& file : files) {
    try {
      if (file.failure) std::rethrow_exception(file.failure);
    } catch (const user_error& problem) {
      file.failure = std::make_exception_ptr(with_relation(problem, file.request));
    } catch (...) {
      continue;  // names no file
    }
  }
}

}  // namespace gpulog::io
