#include "exec/ranks/rank_division.hpp"

#include <fmt/core.h>

#include <utility>

#include "backend/memory_resource.hpp"
#include "exec/calibration.hpp"
#include "exec/ranks/plan_fields.hpp"
#include "kernels/join/pipeline.hpp"
#include "support/error.hpp"
#include "support/long_vector.hpp"

namespace gpulog::exec {
namespace {

using ranks::archive_reader;
using ranks::archive_writer;

/// First byte of a rank's text.
enum class rank_state : std::uint8_t {
  runs,
  has_left,  ///< rank 0 continues alone
  // Failures, of which the rank has warned the other ranks:
  has_too_little_memory,
  has_fault,  ///< of a rule
  has_failed
};
/// The state has the size of a word of 64 bits, so that rows after the state are aligned.
constexpr std::size_t state_bytes = sizeof(std::uint64_t);

std::string text_of(rank_state state, const std::string& text) {
  std::string result(state_bytes, '\0');
  result[0] = static_cast<char>(state);
  return result + text;
}

/// Describes the exception that is being handled, or returns an empty text for an interruption.
std::string describe_failure() {
  try {
    throw;
  } catch (const kernels::interrupted&) {
    return {};
  } catch (const memory_fault& failure) {
    return text_of(rank_state::has_too_little_memory, failure.what());
  } catch (const evaluation_fault& failure) {
    return text_of(rank_state::has_fault, failure.what());
  } catch (const std::bad_alloc&) {
    return text_of(rank_state::has_too_little_memory, "the machine has too little memory");
  } catch (const backend::memory_exceeded& failure) {
    return text_of(rank_state::has_too_little_memory, failure.what());
  } catch (const std::exception& failure) {
    return text_of(rank_state::has_failed, failure.what());
  }
}

/// Returns whether the rank has sent a warning before this text.
bool has_warned(const std::string& text) { return static_cast<rank_state>(text.front()) > rank_state::has_left; }

/// Words before the rows of a phase: the state, the decision, and the number of rows by relation.
constexpr std::size_t decision_word = 1;
constexpr std::size_t first_rows_word = 2;

std::uint64_t word_at(const std::string& text, std::size_t number) {
  std::uint64_t value = 0;
  text.copy(reinterpret_cast<char*>(&value), sizeof(value), number * sizeof(value));
  return value;
}

}  // namespace

std::vector<std::string> rank_division::exchange(const std::string& text) {
  if (watch_) watch_->end();  // one thread at a time uses the messages
  std::vector<std::string> texts = messages_->gather_everywhere(text);
  for (unsigned rank = 0; rank < texts.size(); ++rank) {
    if (rank != share_.of.rank && has_warned(texts[rank])) messages_->take_warning(rank);
  }
  return texts;
}

std::vector<std::string> rank_division::meet(const std::string& text) {
  std::vector<std::string> texts = exchange(text_of(rank_state::runs, text));
  for (unsigned rank = 0; rank < texts.size(); ++rank) {
    const auto state = static_cast<rank_state>(texts[rank].front());
    if (state == rank_state::runs) continue;
    const std::string message = texts[rank].substr(state_bytes);
    is_over_ = true;
    if (!is_leader() || state == rank_state::has_left) throw division_ended();
    if (state == rank_state::has_fault) throw evaluation_fault(message);
    const std::string named = fmt::format("{}: {}", name_of_(rank), message);
    if (state == rank_state::has_too_little_memory) throw memory_fault(named);
    throw user_error(named);
  }
  if (watch_) static_cast<void>(watch_->begin(0));
  return texts;
}

void rank_division::finish(const std::vector<std::uint64_t>& rows) {
  archive_writer write;
  write(rows);
  for (const std::string& text : meet(write.take())) {
    archive_reader read(std::string_view(text).substr(state_bytes));
    read(rows_by_rank_.emplace_back());
  }
  is_over_ = is_finished_ = true;
}

std::exception_ptr rank_division::fail() noexcept {
  std::exception_ptr failure = std::current_exception();
  if (std::exchange(is_over_, true)) return failure;
  if (watch_) watch_->end();
  try {
    const std::string text = describe_failure();
    if (!text.empty()) {
      messages_->warn();
      static_cast<void>(exchange(text));
      return failure;
    }
    if (messages_->is_warned()) static_cast<void>(meet({}));
  } catch (const std::bad_alloc&) {  // too little memory for the message
  } catch (...) {
    return std::current_exception();
  }
  // The other ranks may take long until their next message.
  messages_->leave();
  return failure;
}

const std::atomic<bool>* rank_division::stop(const std::atomic<bool>* cancelled) {
  watch_.emplace([this] { return messages_->is_warned(); }, cancelled);
  return watch_->begin(0);
}

bool rank_division::loses(std::uint64_t new_rows) {
  const double now = storage::seconds_now();
  if (!rows_then_) rows_then_ = new_rows;
  const double seconds = now - compared_at_;
  if (!alone_ || seconds < calibration::least_division_seconds) return false;
  const auto rows = static_cast<double>(new_rows - *rows_then_);
  compared_at_ = now;
  rows_then_ = new_rows;
  return rows < alone_->rows_per_second * seconds;
}

bool rank_division::will_exchange(double seconds, std::uint64_t own_rows) {
  archive_writer write;
  write(own_rows);
  std::uint64_t all_rows = 0;
  for (const std::string& text : meet(write.take())) {
    std::uint64_t rows = 0;
    archive_reader read(std::string_view(text).substr(state_bytes));
    read(rows);
    all_rows += rows;
  }
  if (!is_leader() || !alone_) return true;
  const double seconds_alone = seconds * share_.of.ranks;
  if (static_cast<double>(all_rows) * alone_->exchanged_row_seconds <= seconds_alone) return true;
  go_alone();
  return false;
}

void rank_division::go_alone() {
  is_over_ = true;
  static_cast<void>(exchange(text_of(rank_state::has_left, {})));
}

division::next rank_division::begin_iteration(std::uint64_t new_rows) {
  if (!is_leader()) {
    if (std::exchange(has_new_plan_, false)) return next::iterate;
    const std::string text = meet({}).front();
    if (text.size() == state_bytes) return next::iterate;
    archive_reader read(std::string_view(text).substr(state_bytes));
    read(received_->relations, received_->indexes, received_->strata[number_], abandoned_);
    has_new_plan_ = true;
    return next::bind_again;
  }
  if (loses(new_rows)) {
    go_alone();
    return next::go_alone;
  }
  std::string text;
  if (std::exchange(has_new_plan_, false)) {
    archive_writer write;
    write(plan_->relations, plan_->indexes, plan_->strata[number_], abandoned_);
    text = write.take();
  }
  static_cast<void>(meet(text));
  return next::iterate;
}

phase_end rank_division::end_phase(phase_end decision, double seconds, const std::vector<appended_block>& appended,
                                   const std::function<void(const appended_block&)>& insert) {
  if (std::exchange(counts_first_, false)) {
    std::uint64_t rows = 0;
    for (const appended_block& block : appended) rows += block.rows;
    if (!will_exchange(seconds, rows)) return phase_end::run_alone;
  }
  std::string own;
  const auto add = [&own](const void* data, std::uint64_t bytes) {
    own.append(static_cast<const char*>(data), memory_size(bytes));
  };
  const auto decided = static_cast<std::uint64_t>(decision);
  add(&decided, sizeof(decided));
  for (const appended_block& block : appended) add(&block.rows, sizeof(block.rows));
  for (const appended_block& block : appended) {
    for (const word* column : block.columns) add(column, block.rows * sizeof(word));
  }
  const std::vector<std::string> texts = meet(own);
  decision = static_cast<phase_end>(word_at(texts.front(), decision_word));
  if (decision == phase_end::run_again) return decision;
  for (unsigned rank = 0; rank < texts.size(); ++rank) {
    if (rank == share_.of.rank) continue;
    const char* column_bytes = texts[rank].data() + (first_rows_word + appended.size()) * sizeof(std::uint64_t);
    for (std::size_t i = 0; i < appended.size(); ++i) {
      appended_block block{appended[i].relation, word_at(texts[rank], first_rows_word + i), {}};
      for (std::size_t column = 0; column < appended[i].columns.size(); ++column) {
        block.columns.push_back(reinterpret_cast<const word*>(column_bytes));
        column_bytes += memory_size(block.rows * sizeof(word));
      }
      if (block.rows != 0) insert(block);
    }
  }
  return decision;
}

}  // namespace gpulog::exec
