package dev.doorbell.doctor.log;

import dev.doorbell.core.mlx5.generated.StatusTable;
import dev.doorbell.core.mlx5.generated.SyndromeTable;
import dev.doorbell.core.mlx5.generated.VendorTable;
import java.util.Locale;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A completion in error as a line of a log reports it: NCCL, UCX, perftest, the kernel and others
 * write the same numbers in their own ways.
 *
 * @param status of {@code ibv_wc_status}, 1 to 22
 * @param vendor the vendor's code, or -1
 */
public record CompletionError(int status, int vendor) {
  private static final Pattern NAME =
      Pattern.compile("\\bIBV?_WC_(\\w+?)(?=\\(|\\b)|\\b(WR_FLUSH_ERR)\\b");

  /** mlx5's own code, of UCX, device code and the kernel: {@code synd 0x15}. */
  private static final Pattern SYNDROME =
      Pattern.compile(
          "(?<!vendor |vendor_err_|hw_|hw_err_)\\bsynd(?:rome)?[ :=]+(0x[0-9a-f]+|\\d{1,2}\\b)");

  /** The number after words that only completions have. */
  private static final Pattern STATUS =
      Pattern.compile(
          "(?:completion (?=from|with|in)|\\bCQE\\b|\\bW[CR]\\b|\\bwr \\d+|\\bwc\\b|work"
              + " (?:completion|request complete)|[Ff]ailed status|CQ state error|ibv_poll_cq failed)(?:.*?\\bstatus(?:"
              + " code)?[ :=]+|.*?\\bwith error |.*?\\berror:\\s*|\\s*:?\\s*)(?:[\\w"
              + " ]+\\()?(0x[0-9a-f]+|\\d+)\\b");

  private static final Pattern VENDOR =
      Pattern.compile(
          "vend(?:or)?(?:[ _](?:err(?:or)?|synd(?:rome)?|code)){0,2}(?:_synd)?["
              + " :=]+(0x[0-9a-f]+|\\d+)|(?<!vendor )syndrome?"
              + " (0x[3-9a-f][0-9a-f])\\b(?!.*vend)|error \\((0x[0-9a-f]+) 0x|error: [a-zA-Z"
              + " ]+\\((0x[0-9a-f]+) 0x");

  /** Words of statuses that say too little by themselves. */
  private static final Pattern VAGUE =
      Pattern.compile("success|fatal error|general error|aborted error|TM error");

  /** Finds the completion in error that a line reports. */
  public static Optional<CompletionError> in(String line) {
    int status = number(line);
    return status > 0 && status < StatusTable.NUMBER
        ? Optional.of(new CompletionError(status, vendor(line)))
        : Optional.empty();
  }

  private static int number(String line) {
    Matcher name = NAME.matcher(line);
    while (name.find()) {
      int found = byName("IBV_WC_" + (name.group(1) == null ? name.group(2) : name.group(1)));
      if (found > 0) {
        return found;
      }
    }
    Matcher syndrome = SYNDROME.matcher(line);
    if (syndrome.find()
        && !line.contains("mlx5_cmd")
        && !line.contains("devx_obj")
        && !line.contains("CQ error")) {
      int code = Integer.decode(syndrome.group(1));
      if (code == 0 || !SyndromeTable.name(code).startsWith("unknown")) {
        return code == 0 ? 0 : byName(SyndromeTable.status(code));
      }
    }
    Matcher status = STATUS.matcher(line);
    if (status.find() && status.group(1).length() <= 4) {
      return Integer.decode(status.group(1));
    }
    return byWords(line);
  }

  private static int vendor(String line) {
    Matcher vendor = VENDOR.matcher(line);
    if (!vendor.find()) {
      return -1;
    }
    String text =
        IntStream.rangeClosed(1, vendor.groupCount())
            .mapToObj(vendor::group)
            .filter(group -> group != null)
            .findFirst()
            .orElse("");
    return text.length() > 6 ? -1 : Integer.decode(text.replaceFirst("^0+(?=\\d)", ""));
  }

  /** Returns the status of a name such as {@code IBV_WC_RETRY_EXC_ERR}, or 0. */
  public static int byName(String name) {
    return first(each -> StatusTable.name(each).equalsIgnoreCase(name));
  }

  private static int byWords(String line) {
    String text = line.toLowerCase(Locale.ROOT);
    return first(
        each -> {
          String words = StatusTable.description(each);
          return !VAGUE.matcher(words).matches() && text.contains(words.toLowerCase(Locale.ROOT));
        });
  }

  private static int first(IntPredicate matches) {
    return IntStream.range(1, StatusTable.NUMBER).filter(matches).findFirst().orElse(0);
  }

  /** Returns status, vendor code and its meaning in one line. */
  public String text() {
    String known = vendor < 0 ? "" : VendorTable.status(vendor);
    String meaning =
        vendor < 0
            ? ""
            : ", vendor 0x%02x: %s"
                .formatted(
                    vendor,
                    known.isEmpty()
                            || known.equals(StatusTable.name(status))
                            || vendor == VendorTable.INJECTED
                        ? VendorTable.meaning(vendor)
                        : "another meaning than on ConnectX, where it goes with " + known);
    return "%s(%d)%s".formatted(StatusTable.name(status), status, meaning);
  }
}
