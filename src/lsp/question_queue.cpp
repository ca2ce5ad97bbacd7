#include "lsp/question_queue.hpp"

#include <exception>
#include <system_error>
#include <utility>

namespace gpulog::lsp {

question_queue::~question_queue() {
  for (entry& each : entries_) each.cancelled = true;
  if (thread_.joinable()) thread_.join();
}

void question_queue::add(json id, question asked) {
  entry& added = entries_.emplace_back();
  added.result.id = std::move(id);
  added.asked = std::move(asked);
  if (entries_.size() == 1) start();
}

void question_queue::start() {
  const auto run = [&first = entries_.front(), this] {
    try {
      if (!first.cancelled) first.result.text = first.asked(first.cancelled);
    } catch (const std::exception& failure) {
      first.result.has_failed = true;
      first.result.text = failure.what();
    }
    first.has_ended = true;
    on_end_();
  };
  try {
    thread_ = std::thread(run);
  } catch (const std::system_error&) {
    run();  // the system has no further thread
  }
}

void question_queue::cancel(const json& id) {
  for (entry& each : entries_) {
    if (each.result.id != id) continue;
    each.result.was_cancelled = true;
    each.cancelled = true;
  }
}

std::optional<question_queue::answer> question_queue::take_answer() {
  if (entries_.empty() || !entries_.front().has_ended) return std::nullopt;
  if (thread_.joinable()) thread_.join();
  answer result = std::move(entries_.front().result);
  entries_.pop_front();
  if (!entries_.empty()) start();
  return result;
}

}  // namespace gpulog::lsp
