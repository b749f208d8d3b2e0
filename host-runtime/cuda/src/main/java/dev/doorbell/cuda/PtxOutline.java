package dev.doorbell.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The entries, with their parameters, and the variables of a PTX file, in the order of the file.
 * Drivers before CUDA 12.4 cannot list them. Nothing is checked: the driver has compiled the file.
 *
 * @param entries the kernels
 * @param variables names of variables at the level of the file
 */
record PtxOutline(List<Entry> entries, List<String> variables) {
  /**
   * A kernel's parameters.
   *
   * @param bytes size of the parameter block
   */
  record Entry(String name, List<Parameter> parameters, int bytes) {}

  record Parameter(int offset, int bytes) {}

  private static final Pattern COMMENT = Pattern.compile("//[^\\n]*|/\\*.*?\\*/", Pattern.DOTALL);
  private static final Pattern ENTRY =
      Pattern.compile("\\.entry\\s+([\\w$%.]+)\\s*(?:\\(([^)]*)\\))?");
  private static final Pattern VARIABLE =
      Pattern.compile(
          "(?m)(?:^|;|\\})\\s*(?:\\.visible|\\.weak|\\.common)?\\s*\\.(?:global|const)\\b([^;={]*)");
  private static final Pattern ALIGN = Pattern.compile("\\.align\\s+(\\d+)");
  private static final Pattern DECLARED =
      Pattern.compile("([\\w$%]+)\\s*(?:\\[\\s*(\\w*)\\s*\\])?\\s*$");
  private static final Pattern TYPE = Pattern.compile("\\.(?:[busf](8|16|32|64|128)|pred)\\b");

  PtxOutline {
    entries = List.copyOf(entries);
    variables = List.copyOf(variables);
  }

  static PtxOutline of(String ptx) {
    String text = topLevel(COMMENT.matcher(ptx).replaceAll(" "));
    List<Entry> entries = new ArrayList<>();
    Matcher entry = ENTRY.matcher(text);
    while (entry.find()) {
      entries.add(entry(entry.group(1), entry.group(2)));
    }
    List<String> variables = new ArrayList<>();
    Matcher variable = VARIABLE.matcher(text);
    while (variable.find()) {
      Matcher name = DECLARED.matcher(variable.group(1).strip());
      if (name.find()) {
        variables.add(name.group(1));
      }
    }
    return new PtxOutline(entries, variables);
  }

  /** The text outside of braces and quotes: without bodies and initialisers. */
  private static String topLevel(String text) {
    StringBuilder kept = new StringBuilder();
    int depth = 0;
    boolean quoted = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"') {
        quoted = !quoted;
      } else if (!quoted && c == '{') {
        depth++;
      } else if (!quoted && c == '}') {
        depth--;
        kept.append("}\n");
      } else if (!quoted && depth == 0) {
        kept.append(c);
      }
    }
    return kept.toString();
  }

  private static Entry entry(String name, @org.jspecify.annotations.Nullable String list) {
    List<Parameter> parameters = new ArrayList<>();
    int end = 0;
    if (list != null && !list.isBlank()) {
      for (String declaration : list.split(",", -1)) {
        Matcher declared = DECLARED.matcher(declaration.strip());
        Matcher type = TYPE.matcher(declaration);
        if (!declared.find() || !type.find()) {
          throw new IllegalArgumentException("parameter '" + declaration.strip() + "' of " + name);
        }
        int width = type.group(1) == null ? 1 : Integer.parseInt(type.group(1)) / Byte.SIZE;
        int count = declared.group(2) == null ? 1 : Integer.decode(declared.group(2));
        int offset = roundUp(end, Math.max(width, align(declaration)));
        parameters.add(new Parameter(offset, width * count));
        end = offset + width * count;
      }
    }
    return new Entry(name, List.copyOf(parameters), end);
  }

  /** The alignment of the parameter; that of its pointee follows {@code .ptr}. */
  private static int align(String declaration) {
    int pointer = declaration.indexOf(".ptr");
    Matcher align = ALIGN.matcher(pointer < 0 ? declaration : declaration.substring(0, pointer));
    return align.find() ? Integer.parseInt(align.group(1)) : 1;
  }

  private static int roundUp(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
  }
}
