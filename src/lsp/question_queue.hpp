#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "lsp/protocol/json.hpp"

namespace gpulog::lsp {

/// Answers questions that take long, one after the other, in a thread.
class question_queue {
 public:
  /// Returns an answer, or throws std::exception; soon, once `cancelled` is set.
  using question = std::function<std::string(std::atomic<bool>& cancelled)>;

  struct answer {
    json id;           ///< of the request
    std::string text;  ///< the answer, or a message if `has_failed`
    bool has_failed = false;
    bool was_cancelled = false;
  };

  /// @param on_end called by the thread of a question when take_answer() has its answer
  explicit question_queue(std::function<void()> on_end) : on_end_(std::move(on_end)) {}
  /// Cancels all questions.
  ~question_queue();
  question_queue(const question_queue&) = delete;
  question_queue& operator=(const question_queue&) = delete;

  void add(json id, question asked);
  /// Cancels the question of a request. Its answer follows, soon.
  void cancel(const json& id);
  /// Returns the next answer, and starts the next question; nothing while a question runs, or if there is none.
  std::optional<answer> take_answer();

 private:
  struct entry {
    answer result;
    question asked;
    std::atomic<bool> cancelled = false;
    std::atomic<bool> has_ended = false;
  };
  /// Starts the first question.
  void start();

  std::function<void()> on_end_;
  std::deque<entry> entries_;  ///< the first entry runs
  std::thread thread_;         ///< of the first entry
};

}  // namespace gpulog::lsp
