// A table of where the fields of an API's structures lie, as initialised data of the module that is compiled.
//
// `doorbell kernel build --api NAME` includes api/NAME.cuh before a kernel of another API. The offsets are the
// compiler's, taken from the headers that the user names; no number is typed in. A field that the headers lack has
// size 0, and the adapter refuses it by name.
//
//   row 0          name of the API, its version as the headers give it, number of rows behind this one
//   a structure    "type", 0, sizeof(type)
//   a field        "type.field", offsetof(type, field), sizeof(field); 0 bytes: there is no such field
//
// Java side: dev.doorbell.experiments.scenario.foreign.ApiLayout.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <utility>

namespace doorbell_api {

struct place {
  uint32_t offset;
  uint32_t bytes;
};

struct row {
  char name[88];
  uint32_t offset;
  uint32_t bytes;
};

constexpr row make_row(const char *name, place where) {
  row made{};
  for (size_t i = 0; i + 1 < sizeof(made.name) && name[i] != 0; ++i) {
    made.name[i] = name[i];
  }
  made.offset = where.offset;
  made.bytes = where.bytes;
  return made;
}

}  // namespace doorbell_api

// A list of fields is a macro that applies its argument to (type, id, field), where id is a name of its own.
#define DOORBELL_API_PROBE(type, id, field)                                                           \
  template <typename T>                                                                               \
  constexpr auto doorbell_api_##id(int)->decltype(sizeof(std::declval<T &>().field), doorbell_api::place{}) { \
    return doorbell_api::place{uint32_t(offsetof(T, field)), uint32_t(sizeof(std::declval<T &>().field))}; \
  }                                                                                                   \
  template <typename T>                                                                               \
  constexpr doorbell_api::place doorbell_api_##id(long) {                                             \
    return doorbell_api::place{0, 0};                                                                 \
  }

#define DOORBELL_API_ROW(type, id, field) doorbell_api::make_row(#type "." #field, doorbell_api_##id<type>(0)),

#define DOORBELL_API_STRUCT(type) doorbell_api::make_row(#type, doorbell_api::place{0, uint32_t(sizeof(type))}),

#define DOORBELL_API_TABLE(word, version, structures, fields)                                         \
  fields(DOORBELL_API_PROBE)                                                                          \
  constexpr doorbell_api::row doorbell_api_rows[] = {structures(DOORBELL_API_STRUCT) fields(DOORBELL_API_ROW)}; \
  struct doorbell_api_table {                                                                         \
    doorbell_api::row head;                                                                           \
    doorbell_api::row rows[sizeof(doorbell_api_rows) / sizeof(doorbell_api::row)];                    \
  };                                                                                                  \
  extern "C" __device__ doorbell_api_table doorbell_api_layout = {                                    \
      doorbell_api::make_row(word, doorbell_api::place{uint32_t(version),                             \
                                                       uint32_t(sizeof(doorbell_api_rows) / sizeof(doorbell_api::row))}), \
      {structures(DOORBELL_API_STRUCT) fields(DOORBELL_API_ROW)}};
