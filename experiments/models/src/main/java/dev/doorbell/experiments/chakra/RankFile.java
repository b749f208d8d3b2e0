package dev.doorbell.experiments.chakra;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * One rank's file: a {@code GlobalMetadata} and the {@code Node} messages, each behind its length.
 * Fields have the numbers of {@code et_def.proto}.
 */
final class RankFile {
  /** Bytes of the longest message; bounds what its fields take while they are read. */
  private static final int MOST_BYTES = 1 << 20;

  /** Fields of an attribute's value: int32, int64, uint32, uint64 and bool. */
  private static final int[] WHOLE = {7, 9, 11, 13, 27};

  private RankFile() {}

  /**
   * A node as it is written.
   *
   * @param numbers attributes that are whole numbers
   * @param partial whether a dimension of the network does not take part
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record RawNode(
      long id,
      int type,
      long micros,
      long[] after,
      Map<String, Long> numbers,
      String group,
      boolean partial) {
    long number(String name, long otherwise) {
      return numbers.getOrDefault(name, otherwise);
    }
  }

  /**
   * Reads the nodes.
   *
   * @param most nodes and dependencies, together
   * @throws IOException saying which message is none
   */
  static List<RawNode> read(InputStream bytes, long most) throws IOException {
    List<RawNode> nodes = new ArrayList<>();
    CodedInputStream in = CodedInputStream.newInstance(bytes);
    try {
      if (message(in).asMap().keySet().stream().anyMatch(field -> field > 2)) {
        throw new InvalidProtocolBufferException("it is no GlobalMetadata");
      }
      for (long count = 0; !in.isAtEnd(); count += 1 + nodes.getLast().after.length) {
        if (count >= most) {
          throw new InvalidProtocolBufferException("there are too many nodes and dependencies");
        }
        nodes.add(node(message(in)));
        in.resetSizeCounter();
      }
      return nodes;
    } catch (InvalidProtocolBufferException e) {
      throw new IOException("message %d: %s".formatted(nodes.size() + 1, e.getMessage()), e);
    }
  }

  private static UnknownFieldSet message(CodedInputStream in) throws IOException {
    int length = in.readRawVarint32();
    if (length < 0 || length > MOST_BYTES) {
      throw new InvalidProtocolBufferException("it has %d bytes".formatted(length));
    }
    return UnknownFieldSet.parseFrom(in.readRawBytes(length));
  }

  private static RawNode node(UnknownFieldSet of) throws IOException {
    LongStream.Builder after = LongStream.builder();
    for (int field = 4; field <= 5; field++) { // ctrl_deps, data_deps
      of.getField(field).getVarintList().forEach(after::add);
      packed(of, field, after);
    }
    Map<String, Long> numbers = new HashMap<>();
    String group = "";
    boolean partial = false;
    for (ByteString each : of.getField(10).getLengthDelimitedList()) {
      UnknownFieldSet attribute = UnknownFieldSet.parseFrom(each);
      String name = text(attribute, 1);
      for (int field : WHOLE) {
        if (attribute.hasField(field)) {
          numbers.put(name, number(attribute, field));
        }
      }
      if (name.equals("pg_name")) {
        group = text(attribute, 29);
      }
      if (name.equals("involved_dim")) {
        LongStream.Builder dimensions = LongStream.builder();
        packed(part(attribute, 28), 1, dimensions);
        partial = dimensions.build().anyMatch(dimension -> dimension == 0);
      }
    }
    return new RawNode(
        number(of, 1),
        Math.clamp(number(of, 3), -1, Byte.MAX_VALUE),
        number(of, 7),
        after.build().toArray(),
        numbers,
        group,
        partial);
  }

  private static void packed(UnknownFieldSet of, int field, LongStream.Builder into)
      throws IOException {
    for (ByteString values : of.getField(field).getLengthDelimitedList()) {
      CodedInputStream in = values.newCodedInput();
      while (!in.isAtEnd()) {
        into.add(in.readRawVarint64());
      }
    }
  }

  private static long number(UnknownFieldSet of, int field) {
    List<Long> values = of.getField(field).getVarintList();
    return values.isEmpty() ? 0 : values.getLast();
  }

  private static String text(UnknownFieldSet of, int field) {
    return bytes(of, field).toStringUtf8();
  }

  private static UnknownFieldSet part(UnknownFieldSet of, int field) throws IOException {
    return UnknownFieldSet.parseFrom(bytes(of, field));
  }

  private static ByteString bytes(UnknownFieldSet of, int field) {
    List<ByteString> values = of.getField(field).getLengthDelimitedList();
    return values.isEmpty() ? ByteString.EMPTY : values.getLast();
  }
}
