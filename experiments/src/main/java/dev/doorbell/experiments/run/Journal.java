package dev.doorbell.experiments.run;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The append-only record of finished points. A line is a JSON object, a tab, the CRC-32C of the
 * object's bytes in eight hexadecimal digits, and a newline; it is on the medium before the next
 * point is recorded.
 *
 * <p>A crash can leave a part of the last line. Reading stops at the first line that is not whole,
 * and appending cuts the file back to there.
 */
final class Journal implements Closeable {
  private static final JsonMapper JSON = RunJson.MAPPER;
  private static final int CHECKSUM_DIGITS = 8;

  private final Disk.File file;
  private long length;

  private Journal(Disk.File file, long length) {
    this.file = file;
    this.length = length;
  }

  /**
   * The contents of a journal.
   *
   * @param length bytes of the whole lines; what follows is a torn one
   */
  record Contents(List<JournalEntry> entries, long length) {}

  /** Opens a journal to go on after its last whole line. */
  static Journal open(Disk disk, Path path) throws IOException {
    Disk.File file = disk.append(path);
    try {
      long length = parse(file.read()).length;
      if (file.length() > length) {
        file.truncate(length);
      }
      return new Journal(file, length);
    } catch (IOException e) {
      file.close();
      throw e;
    }
  }

  /**
   * Adds a line and returns once it is durable. After a failure the journal is as it was before.
   */
  void append(JournalEntry entry) throws IOException {
    byte[] json = JSON.writeValueAsBytes(entry);
    byte[] end = ("\t" + checksum(json, 0, json.length) + "\n").getBytes(StandardCharsets.US_ASCII);
    ByteBuffer line = ByteBuffer.allocate(json.length + end.length).put(json).put(end).flip();
    int bytes = line.remaining();
    try {
      file.write(line);
      file.force();
      length += bytes;
    } catch (IOException e) {
      file.truncate(length);
      throw e;
    }
  }

  /** Reads the whole lines; a missing file is an empty journal. */
  static Contents read(Path path) throws IOException {
    try {
      return parse(Files.readAllBytes(path));
    } catch (NoSuchFileException _) {
      return new Contents(List.of(), 0);
    }
  }

  private static Contents parse(byte[] bytes) throws IOException {
    List<JournalEntry> entries = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] != '\n') {
        continue;
      }
      int jsonEnd = i - CHECKSUM_DIGITS - 1;
      if (jsonEnd <= start || bytes[jsonEnd] != '\t') {
        break;
      }
      String recorded = new String(bytes, jsonEnd + 1, CHECKSUM_DIGITS, StandardCharsets.US_ASCII);
      if (!recorded.equals(checksum(bytes, start, jsonEnd - start))) {
        break;
      }
      try {
        entries.add(JSON.readValue(bytes, start, jsonEnd - start, JournalEntry.class));
      } catch (JacksonException e) {
        throw new IOException("line %d is whole but not an entry".formatted(entries.size() + 1), e);
      }
      start = i + 1;
    }
    return new Contents(entries, start);
  }

  private static String checksum(byte[] bytes, int offset, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, offset, length);
    return "%08x".formatted(crc.getValue());
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
