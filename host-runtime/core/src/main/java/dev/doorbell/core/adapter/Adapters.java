package dev.doorbell.core.adapter;

import dev.doorbell.core.Resources;
import dev.doorbell.core.problem.Nearest;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The adapters of the project, by name, and those of users, by the path of a file.
 *
 * <p>A file is a properties file in UTF-8: {@code title}, and for each {@link Promise} its answer
 * under {@link Promise#key()} and the source of the answer under {@code KEY.source}. Without an
 * answer, messages are in order, fence bits wait, and queues are mlx5's.
 */
public final class Adapters {
  /** The end of the names of files. */
  public static final String SUFFIX = ".nic.properties";

  private static final String SOURCE = ".source";

  private static final List<String> NAMES =
      List.of(
          "cx7",
          "cx7-ar",
          "cx8-ooo-rw",
          "cx8-ooo-all",
          "relaxed-pcie",
          "no-atomics",
          "split-visibility",
          "efa");

  private Adapters() {}

  /** Returns the names of the project's adapters. */
  public static List<String> names() {
    return NAMES;
  }

  /** Returns the project's adapters. */
  public static List<Adapter> all() {
    return NAMES.stream().map(Adapters::named).toList();
  }

  /**
   * Returns an adapter of the project by name, or reads a file.
   *
   * @param word a name, or the path of a file that ends in {@value #SUFFIX}
   */
  public static Adapter of(String word) throws AdapterException {
    if (NAMES.contains(word)) {
      return named(word);
    }
    if (!word.endsWith(SUFFIX)) {
      throw new AdapterException(
          "no adapter '%s'%s".formatted(word, Nearest.suggestion(word, NAMES)),
          "one of %s, or a file *%s".formatted(String.join(", ", NAMES), SUFFIX));
    }
    Path file = Path.of(word);
    try {
      String name = String.valueOf(file.getFileName());
      return read(name.substring(0, name.length() - SUFFIX.length()), Files.readString(file));
    } catch (IOException e) {
      throw new AdapterException(
          "%s: cannot be read".formatted(word), "give the path of a file *" + SUFFIX);
    }
  }

  /** Returns the project's adapter of that name, which has to exist. */
  public static Adapter named(String name) {
    try {
      return read(name, Resources.text(Adapters.class, name + SUFFIX));
    } catch (AdapterException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Reads the text of a file. */
  public static Adapter read(String name, String text) throws AdapterException {
    Properties file = new Properties();
    try {
      file.load(new StringReader(text));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (IllegalArgumentException e) {
      throw new AdapterException(
          "adapter %s: %s".formatted(name, e.getMessage()), "write \\uXXXX with four hex digits");
    }
    String title = file.getProperty("title", "");
    file.remove("title");
    Map<String, String> sources = new TreeMap<>();
    for (Promise promise : Promise.values()) {
      Object source = file.remove(promise.key() + SOURCE);
      if (source != null) {
        sources.put(promise.key(), source.toString());
      }
    }
    Promises promises =
        new Promises(
            take(name, file, Promise.PLACEMENT, Promise.Placement.values()),
            take(name, file, Promise.STRICT_KEY, Promise.StrictKey.values()),
            take(name, file, Promise.ATOMICS, Promise.Atomics.values()),
            take(name, file, Promise.SENDING, Promise.Sending.values()),
            take(name, file, Promise.POSTED, Promise.Posted.values()),
            take(name, file, Promise.VISIBILITY, Promise.Visibility.values()),
            takeOrFirst(name, file, Promise.MESSAGES, Promise.Messages.values()),
            takeOrFirst(name, file, Promise.FENCE_BIT, Promise.FenceBit.values()),
            takeOrFirst(name, file, Promise.QUEUES, Promise.Queues.values()));
    if (!file.isEmpty()) {
      String unknown = file.stringPropertyNames().stream().sorted().toList().getFirst();
      throw new AdapterException(
          "adapter %s: no promise '%s'%s"
              .formatted(name, unknown, Nearest.suggestion(unknown, keys())),
          "keys: " + String.join(", ", keys()));
    }
    return new Adapter(name, title, promises, sources);
  }

  private static List<String> keys() {
    List<String> keys = new ArrayList<>();
    keys.add("title");
    for (Promise promise : Promise.values()) {
      keys.add(promise.key());
      keys.add(promise.key() + SOURCE);
    }
    return keys;
  }

  /** Takes a promise that files of users need not answer: the first answer is ConnectX's. */
  private static <E extends Enum<E>> E takeOrFirst(
      String name, Properties file, Promise promise, E[] answers) throws AdapterException {
    return file.containsKey(promise.key()) ? take(name, file, promise, answers) : answers[0];
  }

  private static <E extends Enum<E>> E take(
      String name, Properties file, Promise promise, E[] answers) throws AdapterException {
    Object word = file.remove(promise.key());
    for (E answer : answers) {
      if (Promise.word(answer).equals(word)) {
        return answer;
      }
    }
    throw new AdapterException(
        word == null
            ? "adapter %s: '%s' is missing".formatted(name, promise.key())
            : "adapter %s: %s cannot be '%s'%s"
                .formatted(
                    name,
                    promise.key(),
                    word,
                    Nearest.suggestion(word.toString(), promise.answers())),
        "%s: %s".formatted(promise.key(), String.join(" or ", promise.answers())));
  }
}
