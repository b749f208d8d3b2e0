/** YAML files as trees that remember where each key and value was written. */
@NullMarked
package dev.doorbell.experiments.config.document;

import org.jspecify.annotations.NullMarked;
