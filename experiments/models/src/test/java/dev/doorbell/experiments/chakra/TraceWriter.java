package dev.doorbell.experiments.chakra;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Writes a rank's file of an execution trace. */
public final class TraceWriter {
  public static final int METADATA = 1;
  public static final int COMPUTE = 4;
  public static final int SEND = 5;
  public static final int RECEIVE = 6;
  public static final int COLLECTIVE = 7;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final CodedOutputStream out = CodedOutputStream.newInstance(bytes);

  /** A file without nodes. */
  public TraceWriter() {
    add(message -> message.writeString(1, "0.0.4"));
  }

  private interface Fields {
    void write(CodedOutputStream out) throws IOException;
  }

  private static byte[] message(Fields fields) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    fields.write(out);
    out.flush();
    return bytes.toByteArray();
  }

  private TraceWriter add(Fields fields) {
    try {
      out.writeByteArrayNoTag(message(fields));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Adds a node.
   *
   * @param attributes whole numbers, truth values and words
   * @param after ids of its dependencies: the first by control, the others by data, packed
   */
  public TraceWriter node(
      long id, int type, long micros, Map<String, Object> attributes, long... after) {
    return add(
        node -> {
          node.writeUInt64(1, id);
          node.writeString(2, "node " + id);
          node.writeEnum(3, type);
          if (after.length > 0) {
            node.writeUInt64(4, after[0]);
          }
          if (after.length > 1) {
            node.writeByteArray(
                5,
                message(
                    packed -> {
                      for (int i = 1; i < after.length; i++) {
                        packed.writeUInt64NoTag(after[i]);
                      }
                    }));
          }
          node.writeUInt64(7, micros);
          for (Map.Entry<String, Object> each : attributes.entrySet()) {
            node.writeByteArray(10, message(attribute -> write(attribute, each)));
          }
        });
  }

  private static void write(CodedOutputStream out, Map.Entry<String, Object> attribute)
      throws IOException {
    out.writeString(1, attribute.getKey());
    switch (attribute.getValue()) {
      case Integer value -> out.writeInt32(7, value);
      case Long value -> out.writeInt64(9, value);
      case Boolean value -> out.writeBool(27, value);
      case boolean[] values ->
          out.writeByteArray(
              28,
              message(
                  list ->
                      list.writeByteArray(
                          1,
                          message(
                              packed -> {
                                for (boolean value : values) {
                                  packed.writeBoolNoTag(value);
                                }
                              }))));
      case Object value -> out.writeString(29, value.toString());
    }
  }

  /** The file. */
  public byte[] bytes() {
    try {
      out.flush();
      return bytes.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes the files of a trace {@code t}, of a rank each; returns their folder. */
  public static Path write(Path folder, TraceWriter... ranks) throws IOException {
    for (int rank = 0; rank < ranks.length; rank++) {
      Files.write(folder.resolve("t.%d.et".formatted(rank)), ranks[rank].bytes());
    }
    return folder;
  }
}
