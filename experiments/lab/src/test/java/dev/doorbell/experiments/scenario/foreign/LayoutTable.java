package dev.doorbell.experiments.scenario.foreign;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The table of structures in a PTX file, which may be changed. */
final class LayoutTable {
  private static final Pattern TABLE =
      Pattern.compile("\\.b8 doorbell_api_layout\\[(\\d+)\\] = \\{([^}]*)\\}");

  private static final int ROW = 96;
  private static final int OFFSET = 88;
  private static final int BYTES = 92;

  private final byte[] bytes;

  private LayoutTable(byte[] bytes) {
    this.bytes = bytes;
  }

  /** The PTX with another table. */
  static String change(String ptx, Consumer<LayoutTable> change) {
    Matcher matcher = TABLE.matcher(ptx);
    assertThat(matcher.find()).isTrue();
    String[] numbers = matcher.group(2).split(",", -1);
    // Zeros at the end are left out.
    byte[] bytes = new byte[Integer.parseInt(matcher.group(1))];
    for (int i = 0; i < numbers.length; i++) {
      bytes[i] = (byte) Integer.parseInt(numbers[i].strip());
    }
    change.accept(new LayoutTable(bytes));
    String text =
        IntStream.range(0, bytes.length)
            .mapToObj(i -> Integer.toString(bytes[i] & 0xff))
            .collect(Collectors.joining(", "));
    return ptx.substring(0, matcher.start(2)) + text + ptx.substring(matcher.end(2));
  }

  /** Offset of the row of a field. */
  int row(String field) {
    for (int at = ROW; at < bytes.length; at += ROW) {
      int length = 0;
      while (bytes[at + length] != 0) {
        length++;
      }
      if (new String(bytes, at, length, StandardCharsets.US_ASCII).equals(field)) {
        return at;
      }
    }
    throw new AssertionError("no row of " + field);
  }

  /** As a version whose headers lack the field. */
  void drop(String field) {
    Arrays.fill(bytes, row(field) + BYTES, row(field) + ROW, (byte) 0);
  }

  /** As a version in which two fields have changed places. */
  void swap(String one, String other) {
    for (int i = OFFSET; i < BYTES; i++) {
      byte kept = bytes[row(one) + i];
      bytes[row(one) + i] = bytes[row(other) + i];
      bytes[row(other) + i] = kept;
    }
  }
}
