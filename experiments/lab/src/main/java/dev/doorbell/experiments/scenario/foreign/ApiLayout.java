package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.experiments.config.kernel.DeviceApi;
import dev.doorbell.ptxvm.launch.PtxData;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where the fields of an API's structures lie, as the compiler of the kernel laid them out: the
 * table {@code doorbell_api_layout} of its PTX.
 *
 * <p>Rows of 96 bytes, little-endian (source: {@code kernels/include/doorbell/api/layout.cuh}):
 *
 * <pre>
 *   0                                                          88        92        96
 *  +----------------------------------------------------------+---------+---------+
 *  | name, zero-terminated                                    | offset  | bytes   |
 *  +----------------------------------------------------------+---------+---------+
 * </pre>
 *
 * <p>The first row has the API's word, its version and the number of rows behind it. A structure's
 * row has offset 0 and its size; a field's name is {@code type.field}.
 */
public final class ApiLayout {
  /** Name of the table in the PTX. */
  public static final String TABLE = "doorbell_api_layout";

  private static final int OFFSET = 88;
  private static final int BYTES = 92;
  private static final int ROW = 96;

  private final String api;
  private final int version;
  private final Map<String, Place> places;

  /** A place in a structure; 0 bytes where the headers have no such field. */
  record Place(int offset, int bytes) {}

  private ApiLayout(String api, int version, Map<String, Place> places) {
    this.api = api;
    this.version = version;
    this.places = places;
  }

  /**
   * Reads the table of a kernel's PTX.
   *
   * @param name of the file
   * @throws ApiLayoutException when there is none, it is cut off, or it is of another API
   */
  public static ApiLayout read(DeviceApi api, String name, String ptx) throws ApiLayoutException {
    Optional<byte[]> table = PtxData.of(name, ptx, TABLE);
    if (table.isEmpty()) {
      throw new ApiLayoutException(
          "its PTX has no table of %s's structures".formatted(api.word()),
          "compile it with: doorbell kernel build FOLDER --api %s --include DIR"
              .formatted(api.word()));
    }
    ApiLayout layout = decode(table.get());
    if (!layout.api.equals(api.word())) {
      throw new ApiLayoutException(
          "the structures in its PTX are of %s".formatted(layout.api), "api: " + layout.api);
    }
    return layout;
  }

  /** The table of any API in a PTX file; empty where there is none that can be read. */
  public static Optional<ApiLayout> find(String name, String ptx) {
    try {
      Optional<byte[]> table = PtxData.of(name, ptx, TABLE);
      return table.isEmpty() ? Optional.empty() : Optional.of(decode(table.get()));
    } catch (ApiLayoutException _) {
      return Optional.empty();
    }
  }

  private static ApiLayout decode(byte[] table) throws ApiLayoutException {
    ByteBuffer bytes = ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN);
    int rows = table.length < ROW ? -1 : bytes.getInt(BYTES);
    if (rows < 0 || table.length / ROW <= rows) {
      throw new ApiLayoutException(
          "the table of structures in its PTX has %d bytes for %d rows"
              .formatted(table.length, rows),
          "compile the kernel again");
    }
    Map<String, Place> places = new LinkedHashMap<>();
    for (int row = 1; row <= rows; row++) {
      int at = row * ROW;
      places.put(text(table, at), new Place(bytes.getInt(at + OFFSET), bytes.getInt(at + BYTES)));
    }
    return new ApiLayout(text(table, 0), bytes.getInt(OFFSET), places);
  }

  private static String text(byte[] table, int at) {
    int length = 0;
    while (length < OFFSET && table[at + length] != 0) {
      length++;
    }
    return new String(table, at, length, StandardCharsets.US_ASCII);
  }

  /** The word of the API. */
  public String api() {
    return api;
  }

  /** The version that the headers give: three bytes, the major number first. */
  public String version() {
    return "%d.%d.%d".formatted(version >>> 16, version >>> 8 & 0xff, version & 0xff);
  }

  /** Those of {@code fields} that the headers lack, in order. */
  public List<String> missing(List<String> fields) {
    return fields.stream()
        .filter(
            field -> {
              Place place = places.get(field);
              return place == null || place.bytes == 0;
            })
        .toList();
  }

  /**
   * Where a field lies.
   *
   * @param field {@code type.field}, or a type for its size
   * @throws ApiLayoutException naming a field that the headers lack
   */
  Place place(String field) throws ApiLayoutException {
    Place place = places.get(field);
    if (place == null || place.bytes == 0) {
      throw new ApiLayoutException(
          "%s %s has no %s".formatted(api, version(), field), "use a version that has it");
    }
    return place;
  }

  /**
   * Bytes of structures that no field of the table covers, as {@code type [from, to)}: what a
   * version may have added. They stay zero. Gaps of less than 8 bytes are alignment.
   */
  public List<String> unnamed() {
    List<String> unnamed = new ArrayList<>();
    places.forEach(
        (type, whole) -> {
          if (!type.contains(".")) {
            BitSet covered = new BitSet(whole.bytes);
            places.forEach(
                (field, place) -> {
                  if (field.startsWith(type + ".")) {
                    covered.set(place.offset, place.offset + place.bytes);
                  }
                });
            for (int from = covered.nextClearBit(0); from < whole.bytes; ) {
              int next = covered.nextSetBit(from);
              int end = next < 0 ? whole.bytes : next;
              if (end - from >= Long.BYTES) {
                unnamed.add("%s [%d, %d)".formatted(type, from, end));
              }
              from = covered.nextClearBit(end);
            }
          }
        });
    return unnamed;
  }
}
