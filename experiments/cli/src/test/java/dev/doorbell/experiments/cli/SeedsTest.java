package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of docs/seeds.md print what the page says. */
class SeedsTest {
  private static final Pattern ECHO =
      Pattern.compile("echo (['\"])(.*)\\1 \\| \\./doorbell (\\w+)");

  @TempDir private Path folder;
  private final RealSession session = new RealSession();

  /** A command line of the page, and the lines that its output contains. */
  private record Question(String command, List<String> answer) {}

  private static List<Question> questions() throws IOException {
    List<Question> questions = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of("../docs/seeds.md"))) {
      if (line.startsWith("    $ ")) {
        questions.add(new Question(line.substring(6), new ArrayList<>()));
      } else if (line.startsWith("    ")) {
        questions.getLast().answer.add(line.strip());
      }
    }
    return questions;
  }

  @Test
  void each_command_answers_its_question() throws IOException {
    List<Question> questions = questions();
    assertThat(questions).hasSizeGreaterThan(15);
    for (Question question : questions) {
      assertThat(type(question.command))
          .as("%s%n%s", question.command, session.err())
          .isEqualTo(ExitCode.OK);
      String printed = plain(session.out());
      assertThat(question.answer).as(question.command).isNotEmpty();
      for (String line : question.answer) {
        assertThat(printed).as(question.command).contains(plain(line));
      }
    }
  }

  private static String plain(String text) {
    return text.replaceAll("\\s+", " ");
  }

  private ExitCode type(String command) throws IOException {
    Matcher echo = ECHO.matcher(command);
    if (echo.matches()) {
      Path file = Files.writeString(folder.resolve("pasted"), echo.group(2) + "\n");
      return session.type(echo.group(3), file.toString());
    }
    List<String> words =
        new ArrayList<>(Arrays.asList(command.replace("./doorbell ", "").split(" ")));
    words.replaceAll(word -> word.startsWith("experiments/") ? "../" + word : word);
    if (words.getFirst().equals("coll") && !words.contains("--explain")) {
      // A smaller part is simulated than on a user's machine, so that the test is cheap.
      words.addAll(List.of("--budget", "1", "--out", folder.toString()));
    }
    return session.type(words.toArray(String[]::new));
  }
}
