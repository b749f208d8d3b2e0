package dev.doorbell.ptxvm.ir;

import dev.doorbell.core.Resources;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Facts about an opcode, from the table {@code opcodes.txt} beside this class. Parser, analyses,
 * engine, compiler and the page of instructions read them from here alone.
 *
 * @param flow control does not go on with the next instruction
 * @param leaves the thread leaves the function, or the kernel
 * @param silent no operand is a result
 * @param visible another thread may see it
 * @param straight compiled code executes it through its object and goes on with the next one
 * @param wideTurns turns that it takes on 64 bits
 * @param forms those that are executed, in words; empty where functions of arithmetic say
 * @param refusal why it stops the thread that gets there, whatever its form, or null
 */
public record Opcode(
    String name,
    boolean flow,
    boolean leaves,
    boolean silent,
    boolean visible,
    boolean straight,
    int wideTurns,
    String forms,
    @Nullable String refusal) {

  private static final Map<String, Opcode> BY_NAME = new HashMap<>();
  private static final Set<String> MODIFIERS = new HashSet<>();
  private static final Pattern SHAPE = Pattern.compile("m[0-9]+n[0-9]+(k[0-9]+)?");

  /** Facts about a name that PTX ISA does not have. */
  private static final Opcode UNKNOWN = row("", Set.of(), "");

  static {
    Resources.text(Opcode.class, "opcodes.txt").lines().forEach(Opcode::read);
  }

  private static void read(String line) {
    if (line.startsWith("+")) {
      MODIFIERS.addAll(List.of(line.substring(2).split(" ", -1)));
    } else if (!line.startsWith("#")) {
      String[] columns = line.split("\\|", -1);
      Set<String> facts = Set.of(columns[1].strip().split(" ", -1));
      for (String name : columns[0].strip().split(" ", -1)) {
        BY_NAME.put(name, row(name, facts, columns[2].strip()));
      }
    }
  }

  private static Opcode row(String name, Set<String> facts, String forms) {
    boolean refused = forms.startsWith("!");
    return new Opcode(
        name,
        facts.contains("flow"),
        facts.contains("leaves"),
        facts.contains("silent"),
        facts.contains("visible"),
        facts.contains("straight"),
        facts.contains("wide=3") ? 3 : facts.contains("wide=2") ? 2 : 1,
        refused ? "" : forms,
        refused ? forms.substring(1) : null);
  }

  /** The opcode of a name; one without a name where PTX ISA has none. */
  public static Opcode of(String name) {
    return BY_NAME.getOrDefault(name, UNKNOWN);
  }

  /** All opcodes, by name. */
  public static Map<String, Opcode> all() {
    return Map.copyOf(BY_NAME);
  }

  /** Returns true if PTX ISA has the opcode. */
  public boolean known() {
    return !name.isEmpty();
  }

  /** Returns true if some instruction of PTX ISA has the modifier. */
  public static boolean isModifier(String word) {
    return MODIFIERS.contains(word) || SHAPE.matcher(word).matches();
  }
}
