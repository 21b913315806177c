/** The sandbox's two languages, and the sentences that its replies are made of. */

export type Language = 'vi' | 'en'

const VIETNAMESE_LETTERS = /[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]/i
const VIETNAMESE_WORDS = /(?:^|\s)(?:xin chao|toi|ban|khong|duoc|cua|nhung|hay|viet|bang tieng viet)(?=\s|[,.!?]|$)/gi

/** Vietnamese if the text has letters that only Vietnamese uses, or two common words written without accents; else English. */
export function languageOf(text: string): Language {
  const sample = text.slice(0, 20_000)
  if (VIETNAMESE_LETTERS.test(sample)) return 'vi'
  return (sample.match(VIETNAMESE_WORDS)?.length ?? 0) >= 2 ? 'vi' : 'en'
}

interface Sentences {
  simulated: string
  echo(text: string): string
  noText: string
  system(characters: number): string
  turns(count: number): string
  images(list: string[]): string
  documents(count: number): string
  tools(names: string[]): string
  toolReturned(name: string, text: string): string
  toolFailed(name: string, text: string): string
  toolsDone: string
  refused: string
  reasoning: string[]
  filler: string[]
}

export const SENTENCES: Readonly<Record<Language, Sentences>> = {
  en: {
    simulated: 'This is a simulated reply: no model was called.',
    echo: text => `You wrote: “${text}”`,
    noText: 'The last turn has no text.',
    system: characters => `The system prompt has ${characters} characters.`,
    turns: count => `The conversation has ${count} turns.`,
    images: list => `You sent ${list.length} ${list.length === 1 ? 'image' : 'images'}: ${list.join('; ')}.`,
    documents: count => `You sent ${count} ${count === 1 ? 'document' : 'documents'}.`,
    tools: names => `Available tools: ${names.join(', ')}.`,
    toolReturned: (name, text) => `The tool ${name} returned: ${text}`,
    toolFailed: (name, text) => `The tool ${name} failed with: ${text}`,
    toolsDone: 'That completes the request.',
    refused: 'I cannot help with that (a simulated refusal).',
    reasoning: [
      'The user wants a simulated reply, so there is nothing to look up.',
      'First I read what was sent, then I see which tools are available.',
      'A short answer that repeats what I understood will serve best.',
      'I check the limits on length before I begin.',
      'Now I have what I need and can write the answer.',
    ],
    filler: [
      'This text continues only to reach the requested length.',
      'Each sentence costs a few tokens and says nothing new.',
      'A real model would have something better to say here.',
      'The words keep coming at a steady pace, one after another.',
    ],
  },
  vi: {
    simulated: 'Đây là câu trả lời mô phỏng: không có mô hình nào được gọi.',
    echo: text => `Bạn đã viết: “${text}”`,
    noText: 'Lượt cuối không có văn bản.',
    system: characters => `Lời nhắc hệ thống dài ${characters} ký tự.`,
    turns: count => `Cuộc trò chuyện có ${count} lượt.`,
    images: list => `Bạn đã gửi ${list.length} hình ảnh: ${list.join('; ')}.`,
    documents: count => `Bạn đã gửi ${count} tài liệu.`,
    tools: names => `Các công cụ có sẵn: ${names.join(', ')}.`,
    toolReturned: (name, text) => `Công cụ ${name} trả về: ${text}`,
    toolFailed: (name, text) => `Công cụ ${name} báo lỗi: ${text}`,
    toolsDone: 'Như vậy yêu cầu đã được trả lời.',
    refused: 'Tôi không thể giúp việc này (từ chối mô phỏng).',
    reasoning: [
      'Người dùng cần một câu trả lời mô phỏng, nên không phải tra cứu gì.',
      'Trước hết tôi đọc nội dung đã gửi, rồi xem có những công cụ nào.',
      'Một câu trả lời ngắn nhắc lại điều tôi hiểu là phù hợp nhất.',
      'Tôi kiểm tra giới hạn độ dài trước khi viết.',
      'Bây giờ tôi đã đủ thông tin để trả lời.',
    ],
    filler: [
      'Đoạn này chỉ viết thêm cho đủ độ dài được yêu cầu.',
      'Mỗi câu tốn vài token và không nói điều gì mới.',
      'Một mô hình thật sẽ có điều hay hơn để kể ở đây.',
      'Các từ cứ đều đặn nối tiếp nhau.',
    ],
  },
}
