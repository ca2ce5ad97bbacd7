#include "syntax/mapped_text.hpp"

#include <algorithm>

namespace gpulog::syntax {

mapped_text::mapped_text(const source_file& file) : whole_file_(&file) {}

void mapped_text::append_verbatim(const source_file& file, std::uint32_t begin, std::uint32_t end) {
  if (begin >= end) return;
  const bool continues = !pieces_.empty() && pieces_.back().verbatim && pieces_.back().origin.file == &file &&
                         pieces_.back().origin.end == begin;
  if (continues) {
    pieces_.back().origin.end = end;
  } else {
    pieces_.push_back({text_.size(), {&file, begin, end}, true});
  }
  text_ += file.text().substr(begin, end - begin);
}

void mapped_text::append_replacement(std::string_view text, const source_span& origin) {
  if (text.empty()) return;
  pieces_.push_back({text_.size(), origin, false});
  text_ += text;
}

const mapped_text::piece& mapped_text::piece_at(std::size_t offset) const {
  const auto holds = [this, offset](std::size_t number) {
    return pieces_[number].begin <= offset && (number + 1 == pieces_.size() || offset < pieces_[number + 1].begin);
  };
  if (!holds(last_piece_)) {
    if (last_piece_ + 1 < pieces_.size() && holds(last_piece_ + 1)) {
      ++last_piece_;
    } else {
      const auto after =
          std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                           [](std::size_t wanted, const piece& candidate) { return wanted < candidate.begin; });
      last_piece_ = static_cast<std::size_t>(after - pieces_.begin()) - 1;
    }
  }
  return pieces_[last_piece_];
}

source_span mapped_text::span_of_pieces(std::size_t begin, std::size_t end) const {
  if (pieces_.empty()) return {};
  const piece& first = piece_at(begin);
  const auto place = [](const piece& from, std::size_t offset) {
    return from.origin.begin + static_cast<std::uint32_t>(offset - from.begin);
  };
  source_span result = first.origin;
  if (first.verbatim) result.begin = std::min(place(first, begin), first.origin.end);
  const piece& last = piece_at(end > begin ? end - 1 : begin);
  if (last.origin.file == result.file) {
    result.end = last.verbatim ? std::min(place(last, end), last.origin.end) : last.origin.end;
  }
  result.end = std::max(result.begin, result.end);
  return result;
}

}  // namespace gpulog::syntax
