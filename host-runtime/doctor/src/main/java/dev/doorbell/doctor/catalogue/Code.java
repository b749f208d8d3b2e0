package dev.doorbell.doctor.catalogue;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One thing that the doctor can find, an entry of {@code codes.yaml}. Codes are stable: a number is
 * never given to another finding.
 *
 * @param id such as {@code DB-PEERMEM-02}
 * @param title the situation, in a few words
 * @param how the files that are read, and the rule
 * @param effect the consequence for GPU-initiated communication
 * @param fix what to do; empty where nothing has to be done
 * @param sources where the rule comes from
 */
public record Code(
    @JsonProperty("code") String id,
    CheckVerdict verdict,
    String title,
    String how,
    String effect,
    @JsonSetter(nulls = Nulls.AS_EMPTY) String fix,
    @JsonSetter(nulls = Nulls.AS_EMPTY) List<String> sources) {
  private static final List<Code> ALL = DataFile.list(Code.class, "codes.yaml", Code.class);

  public Code {
    sources = List.copyOf(sources);
    if (!id.matches("DB-[A-Z]+-\\d\\d") || title.isEmpty() || how.isEmpty() || effect.isEmpty()) {
      throw new IllegalArgumentException("incomplete entry " + id);
    }
  }

  public static List<Code> all() {
    return ALL;
  }

  /** Returns the code with exactly this id, which must exist. */
  public static Code of(String id) {
    return find(id).orElseThrow(() -> new IllegalArgumentException("no code " + id));
  }

  /** Finds a code by its id in any case, with or without {@code DB-}. */
  public static Optional<Code> find(String id) {
    String wanted = id.toUpperCase(Locale.ROOT);
    return ALL.stream()
        .filter(code -> code.id.equals(wanted) || code.id.equals("DB-" + wanted))
        .findFirst();
  }

  /** Returns the part of the id between prefix and number. */
  public String area() {
    return id.substring(id.indexOf('-') + 1, id.lastIndexOf('-'));
  }
}
