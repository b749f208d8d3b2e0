package dev.doorbell.experiments.run;

import java.io.IOException;
import java.lang.reflect.Constructor;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.deser.ValueInstantiator;
import tools.jackson.databind.deser.ValueInstantiators;
import tools.jackson.databind.deser.std.StdValueInstantiator;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/**
 * Writes a run's records as JSON and reads them again. An unknown key is refused: what a newer
 * version means by it may change what the rest says.
 */
final class RunJson {
  static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .addModule(new RecordsByReflection())
          .build();

  private static final JsonMapper PRETTY =
      MAPPER.rebuild().enable(SerializationFeature.INDENT_OUTPUT).build();

  private RunJson() {}

  /** Reads bytes that this Doorbell, or an older one, wrote. */
  static <T> T read(byte[] bytes, int start, int length, Class<T> type) throws IOException {
    try {
      T read = MAPPER.readValue(bytes, start, length, type);
      if (read == null) {
        throw new IOException("it is null");
      }
      return read;
    } catch (JacksonException e) {
      throw new IOException(reason(e), e);
    }
  }

  private static String reason(JacksonException e) {
    if (e instanceof UnrecognizedPropertyException unknown) {
      return "the key '%s' is unknown; a newer Doorbell may have written it"
          .formatted(unknown.getPropertyName());
    }
    return e.getOriginalMessage().lines().findFirst().orElse("not JSON");
  }

  /** Indented JSON that ends in a newline, the same bytes on every system. */
  static String pretty(Object value) {
    return PRETTY.writeValueAsString(value).replace(System.lineSeparator(), "\n") + "\n";
  }

  /**
   * Creates the records of a run directory by reflection. Jackson itself calls a constructor by a
   * method handle, for which the JDK writes some ten classes for each record: more work than
   * reading the file.
   */
  private static final class RecordsByReflection extends SimpleModule {
    private static final long serialVersionUID = 1;

    @Override
    public void setupModule(SetupContext context) {
      super.setupModule(context);
      context.addValueInstantiators(
          new ValueInstantiators.Base() {
            @Override
            public ValueInstantiator modifyValueInstantiator(
                DeserializationConfig config,
                BeanDescription.Supplier type,
                ValueInstantiator usual) {
              return type.getBeanClass().isRecord() && usual instanceof StdValueInstantiator known
                  ? new OfRecord(known)
                  : usual;
            }
          });
    }

    private static final class OfRecord extends StdValueInstantiator {
      OfRecord(StdValueInstantiator usual) {
        super(usual);
      }

      @Override
      public Object createFromObjectWith(DeserializationContext context, Object[] arguments)
          throws JacksonException {
        if (!(_withArgsCreator.getAnnotated() instanceof Constructor<?> constructor)) {
          return super.createFromObjectWith(context, arguments);
        }
        try {
          return constructor.newInstance(arguments);
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
          return context.handleInstantiationProblem(
              _valueClass, arguments, rewrapCtorProblem(context, e));
        }
      }
    }
  }
}
