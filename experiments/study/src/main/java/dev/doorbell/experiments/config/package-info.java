/**
 * Experiment files: reading YAML with exact positions, checking it against the JSON schema, and
 * saying everything that is wrong with it at once.
 */
@NullMarked
package dev.doorbell.experiments.config;

import org.jspecify.annotations.NullMarked;
