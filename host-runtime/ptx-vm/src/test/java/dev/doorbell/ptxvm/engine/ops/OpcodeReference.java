package dev.doorbell.ptxvm.engine.ops;

import dev.doorbell.ptxvm.ir.Opcode;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The opcode table for readers: {@code docs/ptx-opcodes.md} is what {@link #markdown} says. */
public final class OpcodeReference {
  private OpcodeReference() {}

  /** The page, made of the table that decodes instructions. */
  public static String markdown() {
    StringBuilder page =
        new StringBuilder(
            """
            # PTX instructions of the virtual GPU

            This table is generated from the opcode table of `host-runtime/ptx-vm`. `./doorbell kernel check FILE.ptx` lists
            all that a file needs beyond it, with lines.

            Modifiers of every row of floats: `.rn`, `.ftz` (f32, f16 and pairs; no effect on f64), `.sat`. `.approx` is
            computed in double precision and rounded once, within every documented error. Every instruction may be
            predicated.

            | instruction | forms |
            | --- | --- |
            """);
    Map<String, Set<String>> forms = new LinkedHashMap<>();
    OpTable.forms()
        .forEach((name, form) -> forms.computeIfAbsent(form, _ -> new LinkedHashSet<>()).add(name));
    forms.forEach((form, names) -> row(page, names, code(form)));
    page.append(
        """

        ## Not executed

        A thread that reaches one of these stops its kernel, with the line and the reason; `kernel check` notes them.
        Forms that PTX has and this page does not name stop it, too. A file with an instruction that PTX does not have
        is refused when it is loaded.

        | instruction | reason |
        | --- | --- |
        """);
    Map<String, Set<String>> refused = new TreeMap<>();
    Opcode.all()
        .forEach(
            (name, opcode) -> {
              String reason = opcode.refusal();
              if (reason != null) {
                refused.computeIfAbsent(reason, _ -> new TreeSet<>()).add(name);
              }
            });
    refused.forEach((reason, names) -> row(page, names, reason));
    page.append(
        """
        | `barrier.cluster` | clusters are not supported |
        | `cp.async.bulk.tensor` | tensor copies are not supported |
        | `call malloc` | malloc in a kernel is not supported |

        A block is a cluster of its own: `.shared::cluster` is its shared memory and `%cluster_ctarank` is
        0. A kernel with `.reqnctapercluster` of several blocks stops when it is launched.
        """);
    return page.toString();
  }

  /** Instructions with the same text share a row. */
  private static void row(StringBuilder page, Set<String> names, String text) {
    page.append("| `%s` | %s |\n".formatted(String.join(", ", names), text));
  }

  /** Words that begin with a dot, as code; types after one modifier share braces. */
  private static String code(String forms) {
    String folded = forms;
    for (String before = ""; !before.equals(folded); ) {
      before = folded;
      folded =
          folded.replaceAll(
              "(\\.[\\w.]*\\.)(?:\\{([\\w,]+)}|(\\w+)) \\1(\\w+)(?![\\w.:])", "$1{$2$3,$4}");
    }
    return folded.replaceAll("(\\.[A-Za-z][\\w.:]*(?:\\{[\\w,]+})?)", "`$1`").replace("` `", " ");
  }
}
