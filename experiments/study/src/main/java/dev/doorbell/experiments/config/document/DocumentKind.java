package dev.doorbell.experiments.config.document;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.composer.Composer;
import org.snakeyaml.engine.v2.constructor.StandardConstructor;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.parser.Parser;
import org.snakeyaml.engine.v2.parser.ParserImpl;
import org.snakeyaml.engine.v2.scanner.StreamReader;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/**
 * A kind of file that is written in YAML: reads the text and composes its nodes. All kinds number
 * these problems alike.
 *
 * @param name what one file holds, such as {@code fault plan}
 * @param shape what it must be, such as {@code a mapping}
 * @param area letter of its problem codes, such as {@code F}
 */
public record DocumentKind(String name, String shape, char area) {
  private static final int LEAST_BUFFER = 1024;
  private static final int MOST_BYTES = 4 * 1024 * 1024;

  /** Code of a file that cannot be read. */
  public String unreadable() {
    return code(1);
  }

  /** Code of a text that is not YAML. */
  public String notYaml() {
    return code(2);
  }

  /** Code of a node that is not a mapping, a list or a word where one is required. */
  public String wrongShape() {
    return code(4);
  }

  private String code(int number) {
    return "DB-%c%03d".formatted(area, number);
  }

  /** Reads a file as UTF-8. */
  public String text(Path file) throws ConfigException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw failure(
            unreadable(),
            file.toString(),
            "larger than %d MiB, and no %s is".formatted(MOST_BYTES >> 20, name));
      }
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (NoSuchFileException e) {
      throw failure(unreadable(), file.toString(), "there is no such file");
    } catch (CharacterCodingException e) {
      throw failure(unreadable(), file.toString(), "not a text in UTF-8");
    } catch (IOException e) {
      throw failure(unreadable(), file.toString(), "cannot be read: " + e.getMessage());
    }
  }

  /**
   * Composes the only document of a text; its scalars keep the text as it was written.
   *
   * @param file name for problems
   * @throws ConfigException when the text is not YAML, is empty, or holds several documents
   */
  public Node node(String file, String text) throws ConfigException {
    List<Node> documents = documents(file, text);
    if (documents.size() == 1) {
      return documents.getFirst();
    }
    throw failure(
        wrongShape(),
        file,
        documents.isEmpty()
            ? "the file is empty; a %s is %s".formatted(name, shape)
            : "one file holds one %s, and this one holds %d".formatted(name, documents.size()));
  }

  /**
   * Reads the only document of a text as maps, lists and scalars of Java.
   *
   * @param file name for problems
   * @throws ConfigException as {@link #node}
   */
  public Object values(String file, String text) throws ConfigException {
    try {
      return new StandardConstructor(settings(file, text))
          .constructSingleDocument(Optional.of(node(file, text)));
    } catch (YamlEngineException e) {
      throw failure(notYaml(), file, "not YAML: " + firstLine(e.getMessage()));
    }
  }

  /** The text is read at once: by pieces, a long scalar is copied again with each of them. */
  private static LoadSettings settings(String file, String text) {
    return LoadSettings.builder()
        .setBufferSize(Math.max(LEAST_BUFFER, text.length() + 1))
        .setLabel(file)
        .setSchema(new CoreSchema())
        .setCodePointLimit(MOST_BYTES)
        .build();
  }

  List<Node> documents(String file, String text) throws ConfigException {
    LoadSettings settings = settings(file, text);
    try {
      List<Node> documents = new ArrayList<>();
      Parser parser = new BoundedParser(new ParserImpl(settings, new StreamReader(settings, text)));
      new Composer(settings, parser).forEachRemaining(documents::add);
      return documents;
    } catch (MarkedYamlEngineException e) {
      Optional<Mark> mark = e.getProblemMark().or(e::getContextMark);
      throw failure(notYaml(), where(file, mark), "not YAML: " + e.getProblem());
    } catch (YamlEngineException e) {
      throw failure(notYaml(), file, "not YAML: " + firstLine(e.getMessage()));
    }
  }

  static String where(String file, Optional<Mark> mark) {
    return mark.map(m -> "%s:%d:%d".formatted(file, m.getLine() + 1, m.getColumn() + 1))
        .orElse(file);
  }

  private static String firstLine(@Nullable String message) {
    return message == null ? "unreadable" : message.lines().findFirst().orElse("unreadable");
  }

  private static ConfigException failure(String code, String where, String what) {
    return new ConfigException(Problem.of(code, where, what));
  }
}
