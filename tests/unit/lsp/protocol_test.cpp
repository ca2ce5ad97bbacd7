#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "lsp/protocol/message_reader.hpp"
#include "lsp/protocol/text_index.hpp"
#include "lsp/protocol/uri.hpp"

namespace gpulog::lsp {
namespace {

/// A reader of a text that arrives in pieces.
message_reader reader_of(const std::string& text, std::size_t piece) {
  return message_reader([text, piece, at = std::size_t{0}](char* to, std::size_t size) mutable {
    const std::size_t count = std::min({piece, size, text.size() - at});
    std::memcpy(to, text.data() + at, count);
    at += count;
    return count;
  });
}

TEST(message_reader, messages_in_pieces) {
  const std::string text = framed("{}") + "content-length:3\r\nContent-Type: x\r\n\r\nabc" + framed("") + framed("d");
  for (const std::size_t piece : {1, 2, 7, 1000}) {
    message_reader messages = reader_of(text, piece);
    EXPECT_EQ(messages.next(), "{}");
    EXPECT_EQ(messages.next(), "abc");
    EXPECT_EQ(messages.next(), "");
    EXPECT_EQ(messages.next(), "d");
    EXPECT_EQ(messages.next(), std::nullopt);
  }
}

TEST(message_reader, nonsense_between_messages) {
  message_reader messages =
      reader_of("nonsense\r\n\r\n\n\nContent-Length: x\n\n" + framed("a") + "\0\xff\n" + framed("b"), 5);
  EXPECT_EQ(messages.next(), "a");
  EXPECT_EQ(messages.next(), "b");
  EXPECT_EQ(messages.next(), std::nullopt);
}

TEST(message_reader, cut_off_and_too_long) {
  EXPECT_EQ(reader_of("Content-Length: 5\r\n\r\nabc", 9).next(), std::nullopt);
  EXPECT_EQ(reader_of("Content-Length: 5\r\n", 9).next(), std::nullopt);
  EXPECT_EQ(reader_of("Content-Length: 99999999999999999999\r\n\r\nabc", 9).next(), std::nullopt);
  EXPECT_EQ(reader_of("Content-Length: 2000000000\r\n\r\nabc", 9).next(), std::nullopt);
  EXPECT_EQ(reader_of(std::string(1 << 20, 'x') + framed("a"), 1 << 20).next(), std::nullopt);
}

TEST(text_index, positions) {
  const std::string text = "a\xC3\xA4\xF0\x9F\x98\x80z\r\nb\rc\n";
  const text_index utf16(text, position_encoding::utf16);
  EXPECT_EQ(utf16.line_count(), 4U);
  EXPECT_EQ(utf16.position(7), (text_position{0, 4}));  // before the z
  EXPECT_EQ(utf16.position(8), (text_position{0, 5}));
  EXPECT_EQ(utf16.position(10), (text_position{1, 0}));
  EXPECT_EQ(utf16.position(12), (text_position{2, 0}));
  EXPECT_EQ(utf16.position(14), (text_position{3, 0}));
  EXPECT_EQ(utf16.position(99), (text_position{3, 0}));
  EXPECT_EQ(utf16.offset({0, 4}), 7U);
  EXPECT_EQ(utf16.offset({0, 3}), 3U);  // inside a character: its start
  EXPECT_EQ(utf16.offset({0, 99}), 8U);
  EXPECT_EQ(utf16.offset({1, 99}), 11U);
  EXPECT_EQ(utf16.offset({9, 9}), text.size());
  const text_index utf8(text, position_encoding::utf8);
  EXPECT_EQ(utf8.position(7), (text_position{0, 7}));
  EXPECT_EQ(utf8.offset({0, 7}), 7U);
  EXPECT_EQ(utf8.offset({0, 99}), 8U);
}

TEST(text_index, random_texts) {
  const std::string pieces[] = {"a", "bc", "\n", "\r\n", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::string text;
    std::vector<std::size_t> starts;
    for (int count = 0; count < round * 20; ++count) {
      starts.push_back(text.size());
      text += pieces[random() % (round % 2 == 0 ? 7 : 4)];
    }
    const text_index index(text, position_encoding::utf16);
    std::size_t line = 0, units = 0, at = 0;
    for (const std::size_t start : starts) {
      for (; at < start; ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (byte == '\n') {
          ++line;
          units = 0;
        } else if ((byte & 0xC0U) != 0x80U) {
          units += byte >= 0xF0U ? 2 : 1;
        }
      }
      ASSERT_EQ(index.position(start), (text_position{line, units})) << round << ":" << start;
      ASSERT_EQ(index.offset({line, units}), start) << round << ":" << start;
    }
  }
}

TEST(uri, both_directions) {
  EXPECT_EQ(path_of("file:///a%20b/%C3%A4.dl"), "/a b/\xC3\xA4.dl");
  EXPECT_EQ(path_of("file://host/a.dl"), "/a.dl");
  EXPECT_EQ(path_of("file:///a%2"), "/a%2");
  EXPECT_EQ(path_of("file:///a%zz%"), "/a%zz%");
  EXPECT_EQ(path_of("file://"), "");
  EXPECT_EQ(path_of("untitled:a%20"), "untitled:a%20");
  EXPECT_EQ(uri_of("/a b/\xC3\xA4#.dl"), "file:///a%20b/%C3%A4%23.dl");
  EXPECT_EQ(uri_of("untitled:a"), "untitled:a");
}

}  // namespace
}  // namespace gpulog::lsp
