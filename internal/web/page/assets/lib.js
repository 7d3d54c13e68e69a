// The libraries of the page in one place: views import them from here, through ui.js.
import { h } from 'preact';
import htm from 'htm';

export { h, render, Fragment } from 'preact';
export { useCallback, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
export { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from '@preact/signals';

export const html = htm.bind(h);
