package dev.doorbell.experiments.run;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;
import tools.jackson.databind.json.JsonMapper;

/**
 * The append-only record of finished points. A line is a JSON object, a tab, a checksum in eight
 * hexadecimal digits, and a newline; it is on the medium before the next point is recorded. The
 * checksum is the CRC-32C of the previous line's checksum ({@value #FIRST} before the first line)
 * and the object's bytes, so that a line that was cut out shows in the line behind it. Journals of
 * older versions have the CRC-32C of the object alone.
 *
 * <p>A crash can leave a part of the last line, without its newline: it is cut off when the journal
 * is opened to go on. A line that a damaged disk or an editor changed is named, and the lines
 * around it are kept.
 */
public final class Journal implements Closeable {
  private static final JsonMapper JSON = RunJson.MAPPER;
  private static final int CHECKSUM_DIGITS = 8;
  private static final String ENDING = ".jsonl";
  private static final int MOST_COPIES = 1000;
  private static final String FIRST = "doorbell";

  private final Disk.File file;
  private final List<Disk.File> replaced;
  private long length;
  private String last;

  private Journal(Disk.File file, long length, String last, List<Disk.File> replaced) {
    this.file = file;
    this.length = length;
    this.last = last;
    this.replaced = replaced;
  }

  /**
   * A line that is not what was written.
   *
   * @param number from 1
   * @param why in words
   */
  public record BadLine(int number, String why) {}

  /**
   * The contents of a journal.
   *
   * @param entries of the good lines
   * @param bad the other ones that end in a newline
   * @param length bytes of the lines that end in a newline; what follows is a torn one
   * @param last checksum of the last whole line
   * @param chained whether a line's checksum covers the line before it
   */
  public record Contents(
      List<JournalEntry> entries, List<BadLine> bad, long length, String last, boolean chained) {}

  /**
   * Opens a journal to go on after its last whole line. One with bad lines is kept under another
   * name, and its good lines become the journal.
   */
  static Journal open(Disk disk, Path path) throws IOException {
    Disk.File file = disk.append(path);
    try {
      byte[] bytes = file.read();
      Contents contents = parse(bytes);
      if (!contents.bad.isEmpty()) {
        disk.replace(copyOf(path), bytes);
        byte[] good = lines(contents.entries);
        disk.replace(path, good);
        // The old file stays locked: a process that has opened it must not go on with it.
        return new Journal(disk.append(path), good.length, parse(good).last, List.of(file));
      }
      if (file.length() > contents.length) {
        file.truncate(contents.length);
      }
      return new Journal(file, contents.length, contents.last, List.of());
    } catch (IOException e) {
      file.close();
      throw e;
    }
  }

  private static Path copyOf(Path journal) {
    String name = String.valueOf(journal.getFileName()).replace(ENDING, "");
    for (int copy = 1; ; copy++) {
      Path path = journal.resolveSibling("%s.damaged-%d%s".formatted(name, copy, ENDING));
      if (!Files.exists(path) || copy == MOST_COPIES) {
        return path;
      }
    }
  }

  private static byte[] lines(List<JournalEntry> entries) {
    return ofJson(entries.stream().map(JSON::writeValueAsBytes).toList());
  }

  /** Returns JSON objects as the lines of a journal. */
  public static byte[] ofJson(List<byte[]> objects) {
    return lines(FIRST, objects);
  }

  private static byte[] lines(String previous, List<byte[]> objects) {
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    String last = previous;
    for (byte[] json : objects) {
      last = checksum(last, json, 0, json.length);
      lines.writeBytes(json);
      lines.writeBytes(("\t" + last + "\n").getBytes(StandardCharsets.US_ASCII));
    }
    return lines.toByteArray();
  }

  /**
   * Adds a line and returns once it is durable. After a failure the journal is as it was before.
   */
  void append(JournalEntry entry) throws IOException {
    byte[] line = lines(last, List.of(JSON.writeValueAsBytes(entry)));
    try {
      file.write(ByteBuffer.wrap(line));
      file.force();
      length += line.length;
      last =
          new String(
              line, line.length - 1 - CHECKSUM_DIGITS, CHECKSUM_DIGITS, StandardCharsets.US_ASCII);
    } catch (IOException e) {
      file.truncate(length);
      throw e;
    }
  }

  /** Reads the whole lines; a missing file is an empty journal. */
  static Contents read(Path path) throws IOException {
    try {
      return parse(RunDirectory.bytes(path));
    } catch (NoSuchFileException _) {
      return parse(new byte[0]);
    }
  }

  /**
   * Reads the bytes of a journal.
   *
   * @throws IOException when a line is as it was written, and yet no entry of this version
   */
  public static Contents parse(byte[] bytes) throws IOException {
    List<JournalEntry> entries = new ArrayList<>();
    List<BadLine> bad = new ArrayList<>();
    String last = FIRST;
    boolean chained = false;
    int start = 0;
    for (int i = 0, number = 1; i < bytes.length; i++) {
      if (bytes[i] != '\n') {
        continue;
      }
      int jsonEnd = i - CHECKSUM_DIGITS - 1;
      if (jsonEnd <= start || bytes[jsonEnd] != '\t') {
        bad.add(new BadLine(number, "it does not end in a checksum"));
      } else {
        String given = new String(bytes, jsonEnd + 1, CHECKSUM_DIGITS, StandardCharsets.US_ASCII);
        boolean follows = given.equals(checksum(last, bytes, start, jsonEnd - start));
        chained |= follows;
        if (follows || given.equals(checksum("", bytes, start, jsonEnd - start))) {
          entries.add(entry(bytes, start, jsonEnd, number));
        } else {
          bad.add(
              new BadLine(
                  number, "its checksum is that of another text, or of another line before it"));
        }
        last = given;
      }
      start = i + 1;
      number++;
    }
    return new Contents(List.copyOf(entries), List.copyOf(bad), start, last, chained);
  }

  private static JournalEntry entry(byte[] bytes, int start, int end, int number)
      throws IOException {
    try {
      return RunJson.read(bytes, start, end - start, JournalEntry.class);
    } catch (IOException e) {
      throw new IOException("line %d: %s".formatted(number, e.getMessage()), e);
    }
  }

  private static String checksum(String previous, byte[] bytes, int offset, int length) {
    CRC32C crc = new CRC32C();
    crc.update(previous.getBytes(StandardCharsets.US_ASCII));
    crc.update(bytes, offset, length);
    return HexFormat.of().toHexDigits((int) crc.getValue());
  }

  @Override
  public void close() throws IOException {
    file.close();
    for (Disk.File old : replaced) {
      old.close();
    }
  }
}
