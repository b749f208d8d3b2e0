package dev.doorbell.experiments;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A ratchet for the first sentences of Javadoc. A sentence names its subject first; one that opens
 * with a question word is a riddle to a reader who does not know the answer.
 */
class SentencesTest {
  /** Openings that the tree may still have. The number may fall and never rise. */
  private static final int ALLOWED = 77;

  private static final Pattern JAVADOC = Pattern.compile("/\\*\\*[\\s*]*([^@\\s][^\\n]*)");
  private static final Pattern RIDDLE =
      Pattern.compile(
          "^(What|Whose|Where|Which|Of|By|How|As|That|Whether|With what|For what|So"
              + " (?:many|much))\\b|^The same (?:to|for|of|as|in|by)\\b");

  @Test
  void openings_by_question_words_become_fewer() throws IOException {
    List<String> riddles = new ArrayList<>();
    for (Path file : mainSources()) {
      Matcher javadoc = JAVADOC.matcher(Files.readString(file));
      while (javadoc.find()) {
        if (isRiddle(javadoc.group(1))) {
          riddles.add(file.getFileName() + ": " + javadoc.group(1));
        }
      }
    }
    assertThat(riddles.size())
        .as(
            "write who does what, and lower ALLOWED to the number that is left; the last ones: %s",
            riddles.subList(Math.max(0, riddles.size() - 5), riddles.size()))
        .isLessThanOrEqualTo(ALLOWED)
        .isGreaterThan(ALLOWED - 40);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "What the host knows.;true",
        "Of a time the lower one is named.;true",
        "The same to a peer that is not there.;true",
        "So many commands have not ended.;true",
        "Offset of the opcode, in bytes.;false",
        "Whatever it is, the caller closes it.;false",
        "Returns what the peer said.;false",
        "The samples of a point.;false"
      })
  void a_riddle_is_an_opening_and_no_part_of_a_word(String sentence, boolean riddle) {
    assertThat(isRiddle(sentence)).isEqualTo(riddle);
  }

  private static boolean isRiddle(String sentence) {
    return RIDDLE.matcher(sentence).find();
  }

  private static List<Path> mainSources() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of(".."))) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> file.toString().contains("/src/main/java/"))
          .filter(file -> !file.toString().contains("/generated/"))
          .sorted()
          .toList();
    }
  }
}
