/**
 * The JSON schema of experiments: the settings that exist, and the problems of documents that
 * violate it.
 */
@NullMarked
package dev.doorbell.experiments.config.schema;

import org.jspecify.annotations.NullMarked;
