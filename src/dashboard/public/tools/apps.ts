/** Apps that accept the base URL of an OpenAI-compatible service. */

import { SHELL, type Tool } from './types.ts'

export const APPS: readonly Tool[] = [
  {
    // Open WebUI's backend/open_webui/config.py and docs.openwebui.com, read 2026-11-22. It stores all three settings at its
    // first start and ignores later changes to the variables.
    id: 'open-webui',
    name: 'Open WebUI',
    note: 'quickstart.open_webui',
    blocks: ({ base, key, models }) => [
      {
        label: SHELL,
        code: `docker run -d -p 3000:8080 \\
  -e OPENAI_API_BASE_URL=${base}/v1 \\
  -e OPENAI_API_KEY=${key} \\
  -e TASK_MODEL_EXTERNAL=${models.cheap} \\
  -v open-webui:/app/backend/data \\
  --name open-webui ghcr.io/open-webui/open-webui:main`,
      },
    ],
  },
  {
    // The fields of n8n's OpenAI credential (OpenAiApi.credentials.ts), read 2026-11-22.
    id: 'n8n',
    name: 'n8n',
    note: 'quickstart.n8n',
    fields: ({ base, key, models }) => [
      ['API Key', key],
      ['Base URL', `${base}/v1`],
      ['Model → By ID', models.chat],
    ],
  },
]
