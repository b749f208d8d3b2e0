/**
 * Runs on a page of a browser on the same machine: {@code RunPages} answers from run directories,
 * {@code PageServer} is the HTTP server before it, which refuses requests without the token.
 */
@NullMarked
package dev.doorbell.experiments.cli.serve;

import org.jspecify.annotations.NullMarked;
