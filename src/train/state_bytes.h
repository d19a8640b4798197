// SPDX-License-Identifier: Apache-2.0
// A state is written and read by one list of its fields: visit(field, what) puts a field at the end
// of the bytes, or takes it off their front.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/bytes.h"
#include "espalier/train.h"

namespace espalier {

class StateWriter {
 public:
  template <class Field>
  void operator()(const Field& field, std::string_view) {
    if constexpr (std::is_arithmetic_v<Field>) {
      put(out, field);
    } else if constexpr (std::is_same_v<Field, std::string>) {
      put_text(out, field);
    } else {
      put_floats(out, field);
    }
  }

  template <class Item>
  void list(const std::vector<Item>& items, std::string_view what) {
    put(out, static_cast<std::uint64_t>(items.size()));
    for (const Item& item : items) {
      if constexpr (std::is_same_v<Item, std::string>) {
        (*this)(item, what);
      } else {
        visit_fields(item, *this);
      }
    }
  }

  std::string out;
};

class StateReader {
 public:
  explicit StateReader(Reader& reader) : reader_(reader) {}

  template <class Field>
  void operator()(Field& field, std::string_view what) {
    if constexpr (std::is_arithmetic_v<Field>) {
      field = reader_.get<Field>(what);
    } else if constexpr (std::is_same_v<Field, std::string>) {
      field = reader_.text(what);
    } else {
      field = reader_.floats(what);
    }
  }

  // One by one: the length is believed only as far as there are bytes.
  template <class Item>
  void list(std::vector<Item>& items, std::string_view what) {
    const auto count = reader_.get<std::uint64_t>(what);
    for (std::uint64_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<Item, std::string>) {
        (*this)(items.emplace_back(), what);
      } else {
        visit_fields(items.emplace_back(), *this);
      }
    }
  }

 private:
  Reader& reader_;
};

template <class T, class Wanted>
concept Is = std::is_same_v<std::remove_const_t<T>, Wanted>;

template <Is<Epoch> T, class Visitor>
void visit_fields(T& epoch, Visitor& visit) {
  visit(epoch.member, "epochs");
  visit(epoch.epoch, "epochs");
  visit(epoch.train_loss, "epochs");
  visit(epoch.valid_metric, "epochs");
}

}  // namespace espalier
